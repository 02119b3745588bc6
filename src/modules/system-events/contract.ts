import type { Id } from '#kernel/ids.js';

/**
 * Types of events that Posthorn sends to an organization about itself. `catalogue.ts` describes the payload of each
 * type.
 */
export const SYSTEM_EVENT_TYPES = [
  'circuit.closed',
  'circuit.opened',
  'destination.disabled',
  'destination.enabled',
  'domain.failed',
  'domain.verified',
  'email.bounced',
  'email.complained',
  'email.failed',
  'endpoint.verification_failing',
  'event.dead_lettered',
  'replay.completed',
] as const;
export type SystemEventType = (typeof SYSTEM_EVENT_TYPES)[number];

/** An occurrence to report. */
export interface Signal {
  environmentId: number;
  type: SystemEventType;
  /** Id of the affected resource. Signals with the same subject are reported together. */
  subject: Id;
  /** Details that the event reports, in API form: small, and without secrets. */
  details: Record<string, unknown>;
  /** Number of occurrences; defaults to 1. */
  count?: number;
}

/** Collected signals of one type. `type`, `timestamp` and `data` are sent over the wire. */
export interface SystemEvent {
  /** Id of the event, even if no destination receives it. */
  id: Id;
  environmentId: number;
  type: SystemEventType;
  /** RFC 3339. */
  timestamp: string;
  data: SystemEventData;
}

/** Payload of a system event: number and time of the occurrences, and the 100 most frequent subjects. */
export interface SystemEventData {
  count: number;
  first_at: string;
  last_at: string;
  items: (Record<string, unknown> & { count: number })[];
  /** Whether there are more subjects than `items` shows. `count` covers all of them. */
  items_truncated: boolean;
}

/** Called with each event of its type. */
export type SystemEventListener = (event: SystemEvent) => Promise<void>;

/** System events: contexts report signals here, and extensions subscribe to them. */
export abstract class SystemEvents {
  /** Records a signal in the caller's transaction. It is reported if and only if that transaction commits. */
  abstract note(signal: Signal): Promise<void>;

  /**
   * Calls `listener` with each event of a type, or of all types, after the commit. Delivery is at least once, in one of
   * the processes that deliver (not in ROLE=api). A listener that rejects, or takes longer than ten seconds, is called
   * again with growing pauses of up to one minute. After ten calls the event is logged and skipped.
   */
  abstract on(type: SystemEventType | '*', listener: SystemEventListener): void;
}
