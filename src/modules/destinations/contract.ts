import type { KeyObject } from 'node:crypto';
import { DiscoveryService } from '@nestjs/core';
import type { Circuit } from '#engine/circuit.js';
import type { ReceivedRequest } from '#engine/inbound/request.js';
import type { LegacyScheme, LegacySignature } from '#engine/legacy-signature.js';
import type { Answer, RuledRetryPolicy } from '#engine/outcome.js';
import { ApiError } from '#kernel/errors.js';
import { type Id, showId } from '#kernel/ids.js';
import type { Tenant } from '#kernel/tenant.js';

/** Everything that one attempt needs to know of where it goes. */
export interface Target {
  environmentId: number;
  /** The destination's id; for an ad-hoc URL an id derived from environment and URL. */
  targetId: Id;
  /** Null for an ad-hoc URL. */
  destinationId: Id | null;
  /** The endpoint of an application that the destination belongs to; null for one of the list. */
  ownerId: Id | null;
  type: string;
  url: URL | null;
  config: Record<string, unknown>;
  /** What its type signs in with; never logged. */
  credentials: Record<string, string> | null;
  status: 'active' | 'disabled';
  disabledReason: string | null;
  /** Keys that sign at the moment of reading, newest first: two while a rotation's grace lasts. */
  readonly signingKeys: readonly Buffer[];
  /** The same for the ed25519 keys; none unless the destination asks for asymmetric signatures. */
  readonly privateKeys: readonly KeyObject[];
  /** A company's old signature, sent beside the standard one. */
  legacySignature: LegacySignature | null;
  /** Static headers, lower-case names. */
  headers: Record<string, string>;
  /** Those of them that a named secret is part of. */
  secretHeaders?: ReadonlySet<string>;
  retry: RuledRetryPolicy;
  /** Deliveries per second over all workers, or null for no limit. */
  ratePerSecond: number | null;
  /** Most attempts that one worker has under way at once, or null for what the target bears. */
  concurrency: number | null;
  timeoutMs: number;
  /** Consecutive hard failures that open the circuit. */
  failureThreshold: number;
}

/** What of a received request can be repeated. */
export type MirroredRequest = Pick<ReceivedRequest, 'method' | 'path' | 'query' | 'headers' | 'body'>;

/** One delivery as an adapter sends it. The body is the same on every attempt. */
export interface Outgoing {
  webhookId: string;
  eventType: string;
  /** The payload's very characters, or its bytes where it is no text. */
  body: string | Buffer;
  /** The request that was received, as it came; null for what was sent. */
  request: () => Promise<MirroredRequest | null>;
  /** Headers of this message, lower-case names: they win over the target's own. Of a received event none has the name of one of those. */
  headers: Record<string, string> | null;
  replayed: boolean;
  /** W3C trace context to send on, when there is one. */
  traceparent: string | null;
  /** When this attempt starts: the signature's timestamp. */
  atMs: number;
  /**
   * False once others may have taken the delivery over, because this process stood still for longer than its lease. An
   * adapter that waits before it sends (for a connection) asks right before, and throws `Withheld` then.
   */
  mayBegin: () => boolean;
}

/** What of a delivery is signed. */
export type Signable = Pick<
  Outgoing,
  'webhookId' | 'eventType' | 'body' | 'headers' | 'replayed' | 'traceparent' | 'atMs'
>;

/** A request as an attempt would make it, less its body. Header names in lower case. */
export interface SignedRequest {
  method: string;
  url: URL;
  headers: Record<string, string>;
}

/** What one attempt sent over HTTP, less its body, and the headers that it was answered with. Names in lower case. */
export interface SentExchange {
  method: string;
  url: URL;
  headers: Readonly<Record<string, string>>;
  /** Null without an answer. */
  answered: Readonly<Record<string, string>> | null;
}

/** What came of an attempt. */
export interface DeliveryAnswer {
  answer: Answer;
  durationMs: number;
  /** At most 1 KB of what the target said, or a sentence on what went wrong. */
  excerpt: string | null;
  /** Kept of an attempt that failed, less what lets somebody in. */
  exchange?: SentExchange;
}

/** A destination's settings as a caller gives them, checked by their schema only. */
export interface Draft {
  type: string;
  url: string | null;
  config: Record<string, unknown>;
  credentials: Record<string, string> | null;
}

/** Whether a target can be reached, with a sentence for people. */
export interface ProbeReport {
  ok: boolean;
  /** The check that failed. */
  check?: 'schema' | 'credentials' | 'connectivity';
  detail: string;
}

/**
 * Marks a provider that serves a destination type: `@Adapter() class KafkaAdapter extends DestinationAdapter`. It is
 * found in whatever module provides it, of the service or of an extension. Two for one type stop the start.
 */
export const Adapter = DiscoveryService.createDecorator();

/**
 * How one destination type is checked and served. Built-in types and extensions register the same way. What an adapter
 * does in spite of the promises below (it throws, answers nonsense, or never) is an attempt or a check that failed.
 */
export abstract class DestinationAdapter {
  /** The type's name in the API. */
  abstract readonly type: string;
  /** True when deliveries wait to be fetched instead of being sent. */
  abstract readonly pulled: boolean;
  /** False for a type that only the service itself makes destinations of: no caller can name it. */
  readonly isOffered: boolean = true;

  /** Faults of the settings themselves, without touching the network. */
  abstract check(draft: Draft): { path: string; message: string }[];

  /** Tries to reach the target, within ten seconds. Never throws. */
  abstract probe(draft: Draft): Promise<ProbeReport>;

  /** The longest that an attempt takes, in milliseconds, of a type that bounds it by itself; null for the target's time-out. */
  get attemptMsMax(): number | null {
    return null;
  }

  /** One attempt, bounded by the target's time-out, or by `attemptMsMax`. Never throws. */
  abstract deliver(outgoing: Outgoing, target: Target): Promise<DeliveryAnswer>;

  /** What an attempt would send, signed for its moment; nothing is sent. Null for a type that signs no requests. */
  signed(_outgoing: Signable, _target: Target): SignedRequest | null {
    return null;
  }
}

/**
 * Thrown by an adapter of the service where our own storage did not say what to send, or did not take what came of it: the
 * target has nothing to do with that. The delivery comes again without having used up an attempt.
 */
export class NotAttempted extends Error {}

/** Thrown by an adapter that was not to begin any more (`Outgoing.mayBegin`): nothing was sent, and the claim is given up at once. */
export class Withheld extends NotAttempted {
  constructor() {
    super('The attempt was not begun: others may have taken the delivery over.');
  }
}

/** What accepting needs to know of where a delivery goes. */
export interface Queueing extends Pick<Target, 'ratePerSecond' | 'concurrency'> {
  pulled: boolean;
}

/** Targets, from a cache that a change invalidates on every node and that is never older than five seconds. */
export abstract class Targets {
  /** The target of a destination, disabled ones too; null when there is none in this environment. */
  abstract ofDestination(environmentId: number, destinationId: Id): Promise<Target | null>;

  /** What `ofDestination` would answer, where that is known already; undefined where it has to be waited for. */
  abstract known(environmentId: number, destinationId: Id): Target | null | undefined;

  /** As `ofDestination` for an id that a caller names: what belongs to an application's endpoint does not exist there. A promise only where it has to be loaded. */
  abstract ofListed(environmentId: number, destinationId: Id): Target | null | Promise<Target | null>;

  /**
   * The targets of many destinations, in the order of `ids`; what is not in the cache is loaded by one statement. Null
   * stands also for one whose secrets can't be filled in right now: its attempt finds out. Rejects while storage is away.
   */
  abstract ofDestinations(environmentId: number, ids: readonly Id[]): Promise<(Target | null)[]>;

  /** The target of an ad-hoc URL. Throws 422 when the URL may not be sent to. */
  abstract ofUrl(environmentId: number, url: string): Promise<Target>;

  /**
   * Where a stored delivery goes, which has an address of its own or a destination. Null where that is gone, or the address may not be
   * sent to any more.
   */
  ofDelivery(
    environmentId: number,
    { targetId, url }: { targetId: Id; url: string | null },
  ): Target | null | Promise<Target | null> {
    if (url !== null) return this.ofStoredUrl(environmentId, url);
    return this.known(environmentId, targetId) ?? this.ofDestination(environmentId, targetId);
  }

  private async ofStoredUrl(environmentId: number, url: string): Promise<Target | null> {
    try {
      return await this.ofUrl(environmentId, url);
    } catch (error) {
      if (error instanceof ApiError && error.type === 'validation_failed') return null;
      throw error;
    }
  }

  /** The adapter of a stored destination's type; one whose attempts fail and say why when its extension is not loaded. */
  abstract adapter(type: string): DestinationAdapter;

  /** The types whose deliveries wait to be fetched. */
  abstract pulledTypes(): string[];

  /**
   * How what was received is queued for a destination. One that was deleted or disabled, or can't be loaded right now, gets its
   * delivery too, and keeps no other from its own: it fails where everybody can see it, and can be sent again.
   */
  async queueing(environmentId: number, destinationId: Id): Promise<Queueing> {
    const target = await this.ofDestination(environmentId, destinationId).catch(() => null);
    return {
      pulled: target !== null && this.adapter(target.type).pulled,
      ratePerSecond: target?.ratePerSecond ?? null,
      concurrency: target?.concurrency ?? null,
    };
  }

  /** Disables a destination until it is enabled by PATCH (410, contract section 4). */
  abstract disable(environmentId: number, destinationId: Id, reason: string): Promise<void>;
}

/** A circuit and whose it is. */
export interface TargetCircuit {
  environmentId: number;
  targetId: Id;
  circuit: Circuit;
}

/** What becomes of one target's circuit. */
export interface CircuitChange {
  environmentId: number;
  targetId: Id;
  /** May be called more than once; returns the same object when nothing changes. */
  change: (circuit: Circuit) => Circuit;
}

/** Circuits of targets, shared by all workers. A target without a row has a closed circuit. */
export abstract class Circuits {
  /** Every circuit that is not closed, and those of the others that failed in the last minute. */
  abstract troubled(): Promise<TargetCircuit[]>;

  /** The circuits of some targets, in their order. */
  abstract these(targets: readonly { environmentId: number; targetId: Id }[]): Promise<Circuit[]>;

  /** The circuits of some targets that are not closed and clean. */
  abstract findAll(environmentId: number, targetIds: readonly Id[]): Promise<Map<Id, Circuit>>;

  /** Changes one circuit under its row lock, and announces it when it turned; returns what it became. */
  abstract change(environmentId: number, targetId: Id, change: (circuit: Circuit) => Circuit): Promise<Circuit>;

  /** The same for many targets, each named once: those that stay closed change together. Returns what they became, in their order. */
  abstract changeAll(changes: readonly CircuitChange[]): Promise<Circuit[]>;

  /** Removes some of the circuits of targets that nothing was sent to for longer than any delivery is tried. True when there may be more. */
  abstract forget(): Promise<boolean>;
}

/** A legacy signature as a caller gives it; the API describes the fields (LegacySignatureBody). */
export interface LegacySignatureSettings {
  header: string;
  algorithm?: LegacyScheme['algorithm'];
  encoding?: LegacyScheme['encoding'];
  content?: string;
  format?: string;
  timestamp_header?: string | null;
  id_header?: string | null;
  /** Left out, the stored one stays. */
  secret?: string;
  secret_encoding?: 'utf8' | 'hex' | 'base64';
}

/** How something is delivered to, in the form of the API: what is left out stays, null goes back to the default. */
export interface DeliverySettings {
  headers?: Record<string, string> | null;
  retry?: { policy?: string | null; max_attempts?: number; schedule?: number[] } | null;
  rate_limit?: { per_second: number } | null;
  timeout_ms?: number | null;
  concurrency?: number | null;
  asymmetric?: boolean | null;
  legacy_signature?: LegacySignatureSettings | null;
}

/** The same as it is shown: in force, and without secrets. */
export interface ShownDeliverySettings {
  headers: Record<string, string>;
  retry: { policy?: string; policy_unserved?: string; max_attempts: number; schedule: number[] };
  rate_limit: { per_second: number } | null;
  timeout_ms: number;
  concurrency: number | null;
  asymmetric: boolean;
  legacy_signature: Required<Omit<LegacySignatureSettings, 'secret' | 'secret_encoding'>> | null;
}

/** What signs deliveries, as receivers are given it. */
export interface ShownSecret {
  /** `whsec_…`. */
  secret: string;
  /** `whpk_…`, or null without asymmetric signatures. */
  publicKey: string | null;
}

/** A destination that belongs to an endpoint of an application. */
export interface OwnedDestination {
  id: Id;
  ownerId: Id;
  name: string;
  url: string | null;
  status: 'active' | 'disabled';
  disabledReason: string | null;
  settings: ShownDeliverySettings;
  circuit: Pick<Circuit, 'state' | 'openedAt'>;
  /** Rises with every change of the settings. */
  version: number;
  createdAt: Date;
  updatedAt: Date;
}

/** A destination that an endpoint asks for; `secret` is `whsec_…` when its receiver knows one already. */
export interface NewOwnedDestination {
  id: Id;
  name: string;
  url: string;
  settings: DeliverySettings;
  secret?: string | null;
}

/** What changes of one: what is left out stays. */
export interface OwnedDestinationChanges {
  name?: string;
  url?: string;
  settings?: DeliverySettings;
}

/**
 * Destinations that belong to endpoints of applications: of type https, never probed (a customer's endpoint may not be
 * up yet), and for every caller of the API who names their ids they do not exist. All of it joins the transaction of the
 * caller. Faults of settings are named as in the API (`headers.x-a`, `legacy_signature.header`).
 */
export abstract class OwnedDestinations {
  /** Throws 422 with the faults of the URL or the settings. */
  abstract create(tenant: Tenant, owner: { id: Id }, destination: NewOwnedDestination): Promise<OwnedDestination>;

  /** Throws 404, and 422 as above. */
  abstract update(tenant: Tenant, id: Id, changes: OwnedDestinationChanges): Promise<OwnedDestination>;

  /** Enabling closes the circuit too; a reason that a disabled one has stays. Throws 404. */
  abstract setStatus(tenant: Tenant, id: Id, status: 'active' | 'disabled', reason?: string): Promise<OwnedDestination>;

  /** Removes one; what waits for it fails as `target_gone`. Throws 404. */
  abstract remove(environmentId: number, id: Id): Promise<void>;

  /** Removes all of one owner and returns their ids. */
  abstract removeAllOf(environmentId: number, ownerId: Id): Promise<Id[]>;

  /** In the order of `ids`, without those that do not exist; two statements whatever their number. */
  abstract find(environmentId: number, ids: readonly Id[]): Promise<OwnedDestination[]>;

  /** Throws 404. */
  abstract showSecret(tenant: Tenant, id: Id): Promise<ShownSecret>;

  /** New keys; the ones before sign too for `graceMs`. Throws 404. */
  abstract rotateSecret(tenant: Tenant, id: Id, graceMs: number): Promise<ShownSecret>;
}

/** Whether URLs can be reached, through the same gate as deliveries; nothing is stored. */
export abstract class UrlChecks {
  /** With a sentence for people. */
  abstract tryUrl(url: string): Promise<{ ok: boolean; detail: string }>;
}

/** A destination that the service needs for itself, such as the one that emails are handed over by. */
export interface ServiceDestination {
  id: Id;
  name: string;
  type: string;
  /** For one attempt, in milliseconds. */
  timeoutMs: number;
}

/**
 * Destinations of the service itself, at most one of an id in each environment: with the default schedule and circuit, in no
 * list, never changed and never removed.
 */
export abstract class ServiceDestinations {
  /** Resolves once it is there, committed by itself; safe to ask anywhere at once. Throws 503 while storage is away. */
  abstract ensure(environmentId: number, destination: ServiceDestination): Promise<void>;
}

/** What a target is called: a destination of the list, or with an owner the endpoint of an application. */
export interface DestinationName {
  id: Id;
  name: string;
  /** The application. */
  ownerId: Id | null;
}

/** A target as the API names it. One that owns itself is the service's own. */
export function shownTarget({ id, name, ownerId }: DestinationName): Record<string, string> {
  return ownerId === null || ownerId === id
    ? { destination: showId('dst', id), name }
    : { endpoint: showId('ep', id), application: showId('app', ownerId) };
}

/** What destinations are called. */
export abstract class DestinationNames {
  /** Those of `ids` that exist, whoever they belong to. */
  abstract find(environmentId: number, ids: readonly Id[]): Promise<DestinationName[]>;
}
