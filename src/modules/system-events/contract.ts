import type { Id } from '#kernel/ids.js';

/** Events that Posthorn sends about itself. `catalogue.ts` describes each payload. */
export const SYSTEM_EVENT_TYPES = [
  'circuit.closed',
  'circuit.opened',
  'destination.disabled',
  'destination.enabled',
  'domain.at_risk',
  'domain.failed',
  'domain.paused',
  'domain.verified',
  'email.bounced',
  'email.complained',
  'email.failed',
  'email.resubscribed',
  'email.unsubscribed',
  'endpoint.body_too_large',
  'endpoint.verification_failing',
  'event.dead_lettered',
  'replay.completed',
] as const;
export type SystemEventType = (typeof SYSTEM_EVENT_TYPES)[number];

/**
 * Types about single recipients. Receivers may need each occurrence, so each is an item of its own. The occurrences of
 * other types are combined by subject.
 */
export const RECIPIENT_EVENT_TYPES: readonly SystemEventType[] = SYSTEM_EVENT_TYPES.filter((type) =>
  type.startsWith('email.'),
);

export interface Signal {
  environmentId: number;
  type: SystemEventType;
  /** Id of the affected resource. Signals with the same subject are reported together, except those about recipients. */
  subject: Id;
  /** Details in the format of the API. They must be small and contain no secrets. */
  details: Record<string, unknown>;
  /** Number of occurrences. Defaults to 1. */
  count?: number;
}

/** A system event. Only `type`, `timestamp` and `data` are sent to the destination. */
export interface SystemEvent {
  /** Id of the event, set even if no destination receives it. */
  id: Id;
  environmentId: number;
  type: SystemEventType;
  /** Time in RFC 3339 format. */
  timestamp: string;
  data: SystemEventData;
}

/** Number and time of the occurrences, and the 100 most frequent subjects or, for recipients, all occurrences. */
export interface SystemEventData {
  count: number;
  first_at: string;
  last_at: string;
  items: (Record<string, unknown> & { count: number })[];
  /** True if `items` does not contain all subjects. `count` always covers all of them. */
  items_truncated: boolean;
}

export type SystemEventListener = (event: SystemEvent) => Promise<void>;

/**
 * System events. Modules report occurrences here (signals), and extensions subscribe to the events that result from
 * them.
 */
export abstract class SystemEvents {
  /** Records a signal in the caller's transaction. If the transaction rolls back, the signal is not reported. */
  abstract note(signal: Signal): Promise<void>;

  /**
   * Calls `listener` after the commit, at least once, in one of the processes that deliver (not in ROLE=api). If a
   * listener rejects or takes longer than ten seconds, it is called again after a pause, which grows to at most one
   * minute. After ten failed calls, the event is logged and skipped.
   */
  abstract on(type: SystemEventType | '*', listener: SystemEventListener): void;
}
