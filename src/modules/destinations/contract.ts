import type { KeyObject } from 'node:crypto';
import { DiscoveryService } from '@nestjs/core';
import type { Circuit } from '#engine/circuit.js';
import type { Forwarding, RequestLine } from '#engine/inbound/forwarded-url.js';
import type { ReceivedRequest } from '#engine/inbound/request.js';
import type { LegacyScheme, LegacySignature } from '#engine/legacy-signature.js';
import type { Answer, RuledRetryPolicy } from '#engine/outcome.js';
import { type Id, showId } from '#kernel/ids.js';

export interface Target {
  environmentId: number;
  /** Id of the destination. For an ad-hoc URL, an id derived from the environment and the URL. */
  targetId: Id;
  /** `null` for an ad-hoc URL. */
  destinationId: Id | null;
  /** Application that owns the destination. `null` for a destination that the API lists. */
  ownerId: Id | null;
  type: string;
  url: URL | null;
  config: Record<string, unknown>;
  /** The credentials are never logged. */
  credentials: Record<string, string> | null;
  status: 'active' | 'disabled';
  disabledReason: string | null;
  /** Signing keys that are valid now, newest first. There are two during the grace period of a rotation. */
  readonly signingKeys: readonly Buffer[];
  /** The ed25519 keys that are valid now. Empty unless the destination uses asymmetric signatures. */
  readonly privateKeys: readonly KeyObject[];
  /** Legacy signature, sent in addition to the standard signature. */
  legacySignature: LegacySignature | null;
  /** Headers to send. Names are in lower case. */
  headers: Record<string, string>;
  /** Names of the headers whose values contain a named secret. */
  secretHeaders?: ReadonlySet<string>;
  /** Parts of a received request (method, path, query) that deliveries of type `https` copy. */
  forward: Forwarding;
  retry: RuledRetryPolicy;
  /** Maximum deliveries per second across all workers. `null` for no limit. */
  ratePerSecond: number | null;
  /** Maximum number of concurrent attempts per worker. `null` if the limit adapts to the target. */
  concurrency: number | null;
  timeoutMs: number;
  /** Number of consecutive hard failures after which the circuit opens. */
  failureThreshold: number;
}

export type MirroredRequest = Pick<ReceivedRequest, 'method' | 'path' | 'query' | 'headers' | 'body'>;

/** A delivery in the form that an adapter sends. The body is the same on every attempt. */
export interface Outgoing {
  webhookId: string;
  eventType: string;
  /** The exact characters of the payload, or its bytes if it is not text. */
  body: string | Buffer;
  /** The raw request as it was received. `null` for an event that was sent through the API. */
  request: () => Promise<MirroredRequest | null>;
  /**
   * Headers of this message with lower-case names. Headers of a sent event override the target's headers. Headers of a
   * received event that the target also sets are left out.
   */
  headers: Record<string, string> | null;
  /** `null` for an event that was sent through the API. */
  requestLine: RequestLine | null;
  replayed: boolean;
  /** W3C trace context to propagate, if there is one. */
  traceparent: string | null;
  /** Start time of this attempt. It becomes the timestamp of the signature. */
  atMs: number;
  /**
   * Returns false once another worker may have taken over the delivery, because this process was blocked for longer
   * than its lease. An adapter that waits for a connection calls this method right before sending. If the result is
   * false, the adapter throws `Withheld`.
   */
  mayBegin: () => boolean;
}

export type Signable = Pick<
  Outgoing,
  'webhookId' | 'eventType' | 'body' | 'headers' | 'requestLine' | 'replayed' | 'traceparent' | 'atMs'
>;

/** A request as an attempt would send it. Excludes the body. Header names are in lower case. */
export interface SignedRequest {
  method: string;
  url: URL;
  headers: Record<string, string>;
}

/** The HTTP request of one attempt, without its body, and the response headers. Header names are in lower case. */
export interface SentExchange {
  method: string;
  url: URL;
  headers: Readonly<Record<string, string>>;
  /** Response headers. `null` if there was no response. */
  answered: Readonly<Record<string, string>> | null;
}

export interface DeliveryAnswer {
  answer: Answer;
  durationMs: number;
  /** At most 1 KB of the target's response, or a sentence that describes the error. */
  excerpt: string | null;
  /** Request and response to store for a failed attempt, without credentials. */
  exchange?: SentExchange;
  /**
   * `true` if the message was canceled. The delivery then ends with the reason `cancelled`, and without an attempt.
   * Ignored if the answer is a success.
   */
  isCanceled?: boolean;
}

/** Settings of a destination as given by a caller, validated only against their schema. */
export interface Draft {
  type: string;
  url: string | null;
  config: Record<string, unknown>;
  credentials: Record<string, string> | null;
  /** Absent if the draft is only checked and not stored. */
  forward?: Forwarding;
}

export interface ProbeReport {
  ok: boolean;
  check?: 'schema' | 'credentials' | 'connectivity';
  detail: string;
}

/**
 * Marks a provider as the adapter of a destination type: `@Adapter() class KafkaAdapter extends DestinationAdapter`, in
 * any module. Posthorn does not start if two adapters serve the same type.
 */
export const Adapter = DiscoveryService.createDecorator();

/**
 * Validates settings and makes deliveries for one destination type. Built-in types and extensions implement this class.
 * If a method throws, returns an invalid value or does not return in time, the attempt or the check fails.
 */
export abstract class DestinationAdapter {
  abstract readonly type: string;
  /** `true` if clients fetch the deliveries instead of Posthorn sending them. */
  abstract readonly pulled: boolean;
  /** `false` for a type that only Posthorn itself uses. Callers cannot create destinations of this type. */
  readonly isOffered: boolean = true;

  /** Returns the errors in the settings. Makes no network requests. */
  abstract check(draft: Draft): { path: string; message: string }[];

  /** Checks whether the target is reachable, and returns within ten seconds. Never throws. */
  abstract probe(draft: Draft): Promise<ProbeReport>;

  /** Time limit of an attempt, if the type defines its own limit. `null` if the target's timeout applies. */
  get attemptMsMax(): number | null {
    return null;
  }

  /** Makes one attempt, limited by the target's timeout or by `attemptMsMax`. Never throws. */
  abstract deliver(outgoing: Outgoing, target: Target): Promise<DeliveryAnswer>;

  /** Returns the request of an attempt, signed for its start time. `null` for a type that does not sign requests. */
  signed(_outgoing: Signable, _target: Target): SignedRequest | null {
    return null;
  }
}

/**
 * Thrown by a built-in adapter if Posthorn's own storage failed, so the target is not at fault. The delivery is
 * retried, and the attempt is not counted.
 */
export class NotAttempted extends Error {}

/** Thrown by a built-in adapter to postpone the delivery. It is retried after `retryInMs`. Nothing is logged. */
export class Postponed extends NotAttempted {
  constructor(
    reason: string,
    readonly retryInMs: number,
  ) {
    super(reason);
  }
}

/** Thrown when `Outgoing.mayBegin` returns false. Nothing was sent. The delivery's claim is released immediately. */
export class Withheld extends NotAttempted {
  constructor() {
    super('The attempt was not begun: another worker may have taken over the delivery.');
  }
}

export interface Queueing extends Pick<Target, 'ratePerSecond' | 'concurrency'> {
  pulled: boolean;
}

export interface TargetCircuit {
  environmentId: number;
  targetId: Id;
  circuit: Circuit;
}

export interface CircuitChange {
  environmentId: number;
  targetId: Id;
  /** Returns the changed circuit, or the same object if nothing changes. May be called more than once. */
  change: (circuit: Circuit) => Circuit;
}

/** A legacy signature as given by a caller. The fields are documented in LegacySignatureBody. */
export interface LegacySignatureSettings {
  header: string;
  algorithm?: LegacyScheme['algorithm'];
  encoding?: LegacyScheme['encoding'];
  content?: string;
  format?: string;
  timestamp_header?: string | null;
  id_header?: string | null;
  /** Key of the HMAC. If omitted, the stored key is kept. */
  secret?: string;
  secret_encoding?: 'utf8' | 'hex' | 'base64';
}

/** Delivery settings in the format of the API. Omitted fields keep their value. `null` restores the default. */
export interface DeliverySettings {
  headers?: Record<string, string> | null;
  retry?: { policy?: string | null; max_attempts?: number; schedule?: number[] } | null;
  rate_limit?: { per_second: number } | null;
  timeout_ms?: number | null;
  concurrency?: number | null;
  asymmetric?: boolean | null;
  legacy_signature?: LegacySignatureSettings | null;
}

/** The delivery settings in effect, without secrets. */
export interface ShownDeliverySettings {
  headers: Record<string, string>;
  retry: { policy?: string; policy_unserved?: string; max_attempts: number; schedule: number[] };
  rate_limit: { per_second: number } | null;
  timeout_ms: number;
  concurrency: number | null;
  asymmetric: boolean;
  legacy_signature: Required<Omit<LegacySignatureSettings, 'secret' | 'secret_encoding'>> | null;
}

export interface ShownSecret {
  secret: string;
  /** The public key, `whpk_…`. `null` without asymmetric signatures. */
  publicKey: string | null;
}

export interface OwnedDestination {
  id: Id;
  ownerId: Id;
  name: string;
  url: string | null;
  status: 'active' | 'disabled';
  disabledReason: string | null;
  settings: ShownDeliverySettings;
  circuit: Pick<Circuit, 'state' | 'openedAt'>;
  /** Version number that every change to the settings increments. */
  version: number;
  createdAt: Date;
  updatedAt: Date;
}

/** A destination to create for an endpoint. `secret` is a `whsec_…` secret that the receiver already has, if any. */
export interface NewOwnedDestination {
  id: Id;
  name: string;
  url: string;
  settings: DeliverySettings;
  secret?: string | null;
}

/** Changes to an owned destination. Omitted fields keep their value. */
export interface OwnedDestinationChanges {
  name?: string;
  url?: string;
  settings?: DeliverySettings;
}

/** A destination that Posthorn itself needs, such as the destination that passes emails to an email transport. */
export interface ServiceDestination {
  id: Id;
  name: string;
  type: string;
  timeoutMs: number;
}

/** Name of a target: a destination, or an application's endpoint if `ownerId` is set. */
export interface DestinationName {
  id: Id;
  name: string;
  ownerId: Id | null;
}

/** Returns a target's id in the format of the API. A target whose owner id is its own id belongs to Posthorn itself. */
export function shownTargetId(id: Id, ownerId: Id | null): string {
  return showId(ownerId === null || ownerId === id ? 'dst' : 'ep', id);
}

/** Presents a target in the format of the API. */
export function shownTarget({ id, name, ownerId }: DestinationName): Record<string, string> {
  const shown = shownTargetId(id, ownerId);
  return ownerId === null || ownerId === id
    ? { destination: shown, name }
    : { endpoint: shown, application: showId('app', ownerId) };
}
