import type { Id } from '#kernel/ids.js';

/** Events that Posthorn sends about itself. `catalogue.ts` describes each payload. */
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

export interface Signal {
  environmentId: number;
  type: SystemEventType;
  /** Id of the affected resource. Signals with the same subject are reported together. */
  subject: Id;
  /** In API form: small, and without secrets. */
  details: Record<string, unknown>;
  /** Defaults to 1. */
  count?: number;
}

/** `type`, `timestamp` and `data` are sent over the wire. */
export interface SystemEvent {
  /** Set even if no destination receives the event. */
  id: Id;
  environmentId: number;
  type: SystemEventType;
  /** RFC 3339. */
  timestamp: string;
  data: SystemEventData;
}

/** Number and time of the occurrences, and the 100 most frequent subjects. */
export interface SystemEventData {
  count: number;
  first_at: string;
  last_at: string;
  items: (Record<string, unknown> & { count: number })[];
  /** `count` covers all subjects, `items` only some. */
  items_truncated: boolean;
}

export type SystemEventListener = (event: SystemEvent) => Promise<void>;

/** System events: contexts report signals here, and extensions subscribe to them. */
export abstract class SystemEvents {
  /** In the caller's transaction. Reported if and only if that transaction commits. */
  abstract note(signal: Signal): Promise<void>;

  /**
   * Calls `listener` after the commit, at least once, in one of the processes that deliver (not in ROLE=api). A
   * listener that rejects, or takes longer than ten seconds, is called again with growing pauses of up to one minute.
   * After ten calls the event is logged and skipped.
   */
  abstract on(type: SystemEventType | '*', listener: SystemEventListener): void;
}
