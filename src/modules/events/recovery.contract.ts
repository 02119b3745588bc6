import type { Id } from '#kernel/ids.js';

/** Why a delivery that waited has to end: its target's owner gave up on it, or its payload is gone. */
export type WithdrawnReason = 'cancelled' | 'erased';

/** Which waiting deliveries of a target to end. */
export interface WaitingSelection {
  environmentId: number;
  targetId: Id;
  /** Only those that belong to this endpoint; null for all of the target. */
  endpointId: Id | null;
  /** Only of events of exactly this type, or of any. */
  eventType: string | null;
  /** Only of events before this id; null for all. What is accepted later than the call is never among them. */
  beforeId: Id | null;
}

/** A target of deliveries, and the environment that it is in. */
export interface TargetKey {
  environmentId: number;
  targetId: Id;
}

/**
 * Ends what waits, before its time. What nobody holds ends at once. What a worker holds is marked, durably: an attempt
 * that is under way ends as it ends and is not retried, anything else ends without one.
 */
export abstract class Withdrawal {
  /** Returns how many deliveries were ended or marked. */
  abstract cancelTarget(selection: WaitingSelection): Promise<number>;

  /** The same for one event, or for all events of the message that the id names; null when there is none in this environment. */
  abstract cancelEvent(environmentId: number, id: Id): Promise<number | null>;

  /** Erases the payload of an event, for all events of its message, and ends what waits; false when there is none. Safe to repeat. */
  abstract erase(environmentId: number, id: Id): Promise<boolean>;

  /** When the payload of an event was erased, or null. */
  abstract erasedAt(environmentId: number, id: Id): Promise<Date | null>;

  /** Why a delivery that a worker holds must not start any more, or null. */
  abstract reasonOf(delivery: { environmentId: number; eventId: Id; ordinal: number }): Promise<WithdrawnReason | null>;

  /** Targets of deliveries that are marked and held: at most a thousand that come after the given one, in order. */
  abstract heldTargets(after: TargetKey | null): Promise<TargetKey[]>;
}

/** Which failed deliveries to look at: those of one target, of events from one id to before another. */
export interface FailedRange {
  environmentId: number;
  targetId: Id;
  beforeId: Id;
  fromId: Id;
  /** Only those in this state; null for both. */
  status: string | null;
}

/** A delivery that ended without being delivered, and that no later one stands for. */
export interface FailedRow {
  eventId: Id;
  /** The day of its partition, as `YYYY-MM-DD`. */
  expiresOn: string;
  endpointId: Id | null;
  reason: string | null;
  /** True when there is no payload to send any more. */
  isGone: boolean;
}

/** What failed at a target, for sending it again. */
export abstract class FailedDeliveries {
  /** Newest first. Inside the caller's transaction, until whose end no other replay of the environment makes deliveries. */
  abstract page(range: FailedRange, limit: number): Promise<FailedRow[]>;

  /** How many there are, of one endpoint or of any; counts up to `max`. */
  abstract count(range: FailedRange, endpointId: Id | null, max: number): Promise<number>;
}

/** Which received events to look at: those of one endpoint, from one id to before another. */
export interface ReceivedRange {
  environmentId: number;
  endpointId: Id;
  beforeId: Id;
  fromId: Id;
  /** Only events in this state, or any. */
  status: string | null;
}

/** A received event as a replay looks at it. */
export interface ReceivedRow {
  id: Id;
  /** The day of its partition, as `YYYY-MM-DD`. */
  expiresOn: string;
  disposition: 'quarantined' | 'parked' | 'ignored' | null;
  /** True when its payload was erased. */
  erased: boolean;
  /** Whether it is in the state that was asked for. */
  inStatus: boolean;
  /** What filters see: the request with the body that the event has (its first 128 KB); null when it was not asked for. */
  request: {
    method: string; url: string; path: string; query: string; headers: [string, string][]; ip: string;
    verification: 'verified' | 'failed' | 'none'; body: Buffer;
  } | null;
}

/** Received events, for sending ranges of them again. */
export abstract class ReceivedEvents {
  /** Newest first, whatever their state: each says whether it is in the one that was asked for. */
  abstract page(range: ReceivedRange, limit: number, hasRequests: boolean): Promise<ReceivedRow[]>;

  /** All of the range, and how many of them are never sent again: quarantined, parked or erased; counts up to `max`. */
  abstract count(range: ReceivedRange, max: number): Promise<{ scanned: number; excluded: number }>;

  /** How many events of an environment, sent ones too, have this id or a later one, up to `max`. */
  abstract acceptedSince(environmentId: number, id: Id, max: number): Promise<number>;

  /** Deliveries of events between two ids (both included) that wait to be claimed, up to `max`. */
  abstract waiting(environmentId: number, fromId: Id, toId: Id, max: number): Promise<number>;
}

/** Dead letters of targets. */
export abstract class DeadLetters {
  /** The latest events that are dead letters of each target now, newest first, at most `limit` each. */
  abstract latest(environmentId: number, targetIds: readonly Id[], limit: number): Promise<Map<Id, Id[]>>;
}
