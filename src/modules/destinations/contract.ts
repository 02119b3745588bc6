import { DiscoveryService } from '@nestjs/core';
import type { Circuit } from '#engine/circuit.js';
import type { ReceivedRequest } from '#engine/inbound/request.js';
import type { Answer } from '#engine/outcome.js';
import type { RetryPolicy } from '#engine/retry.js';
import type { Id } from '#kernel/ids.js';

/** Everything that one attempt needs to know of where it goes. */
export interface Target {
  environmentId: number;
  /** The destination's id; for an ad-hoc URL an id derived from environment and URL. */
  targetId: Id;
  /** Null for an ad-hoc URL. */
  destinationId: Id | null;
  type: string;
  url: URL | null;
  config: Record<string, unknown>;
  /** What its type signs in with; never logged. */
  credentials: Record<string, string> | null;
  status: 'active' | 'disabled';
  disabledReason: string | null;
  /** Keys that sign, newest first: two while a rotation's grace lasts. */
  signingKeys: readonly Buffer[];
  /** Static headers, lower-case names. */
  headers: Record<string, string>;
  retry: RetryPolicy;
  /** Deliveries per second over all workers, or null for no limit. */
  ratePerSecond: number | null;
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
  /** Headers of this message, lower-case names. */
  headers: Record<string, string> | null;
  replayed: boolean;
  /** W3C trace context to send on, when there is one. */
  traceparent: string | null;
  /** When this attempt starts: the signature's timestamp. */
  atMs: number;
}

/** What came of an attempt. */
export interface DeliveryAnswer {
  answer: Answer;
  durationMs: number;
  /** At most 1 KB of what the target said, or a sentence on what went wrong. */
  excerpt: string | null;
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

/** How one destination type is checked and served. Built-in types and extensions register the same way. */
export abstract class DestinationAdapter {
  /** The type's name in the API. */
  abstract readonly type: string;
  /** True when deliveries wait to be fetched instead of being sent. */
  abstract readonly pulled: boolean;

  /** Faults of the settings themselves, without touching the network. */
  abstract check(draft: Draft): { path: string; message: string }[];

  /** Tries to reach the target, within ten seconds. Never throws. */
  abstract probe(draft: Draft): Promise<ProbeReport>;

  /** One attempt, bounded by the target's time-out. Never throws. */
  abstract deliver(outgoing: Outgoing, target: Target): Promise<DeliveryAnswer>;
}

/** Targets, from a cache that a change invalidates on every node and that is never older than five seconds. */
export abstract class Targets {
  /** The target of a destination, disabled ones too; null when there is none in this environment. */
  abstract ofDestination(environmentId: number, destinationId: Id): Promise<Target | null>;

  /** The target of an ad-hoc URL. Throws 422 when the URL may not be sent to. */
  abstract ofUrl(environmentId: number, url: string): Promise<Target>;

  /** The adapter of a type. Throws when nothing serves it. */
  abstract adapter(type: string): DestinationAdapter;

  /** Disables a destination until it is enabled by PATCH (410, contract section 4). */
  abstract disable(environmentId: number, destinationId: Id, reason: string): Promise<void>;
}

/** A circuit and whose it is. */
export interface TargetCircuit {
  environmentId: number;
  targetId: Id;
  circuit: Circuit;
}

/** Circuits of targets, shared by all workers. A target without a row has a closed circuit. */
export abstract class Circuits {
  /** Every circuit that is not closed and clean. */
  abstract troubled(): Promise<TargetCircuit[]>;

  /** Changes one circuit under its row lock and announces it; returns what it became. */
  abstract change(environmentId: number, targetId: Id, change: (circuit: Circuit) => Circuit): Promise<Circuit>;
}
