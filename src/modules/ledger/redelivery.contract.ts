import type { Id } from '#kernel/ids.js';

export interface Redelivery {
  targetId?: Id;
  /** Selects only dead letters of events that this endpoint received. */
  endpointId?: Id;
  /** Selects only dead letters of events accepted at or after this time. */
  sinceMs?: number;
}

export interface Redelivered {
  eventId: Id;
  /** Day of the event's partition, as `YYYY-MM-DD`. */
  expiresOn: string;
  targetId: Id;
  endpointId: Id | null;
}

export interface Addressee {
  targetId: Id;
  /** The application's endpoint for this target, if several endpoints share the target; otherwise null. */
  endpointId: Id | null;
  /** True for an ad-hoc URL, which is not a stored destination. */
  isAdHoc: boolean;
}

/** Returns a sentence that explains why an addressee currently accepts no deliveries, or null if it accepts them. */
export type FindObstacle = (addressee: Addressee) => Promise<string | null>;

/** Selects some of an event's addressees, or none. Throws if the event must not be redelivered at all. */
export type ChooseAddressees = <T extends Addressee & Redelivered>(addressees: readonly T[]) => Promise<readonly T[]>;

export interface StoredEvent {
  id: Id;
  /** Day of the event's partition, as `YYYY-MM-DD`. */
  expiresOn: string;
}

export interface Whereabouts {
  /** If true, selects only `failed` and `dlq` deliveries; otherwise selects all deliveries. */
  isUndelivered: boolean;
  /** Also selects canceled deliveries. Applies only if `isUndelivered` is true. */
  includesCancelled: boolean;
  /** Target of the deliveries; null for any target. */
  targetId: Id | null;
}

export interface SendableRow extends Redelivered, Pick<Addressee, 'isAdHoc'> {
  /**
   * Endpoint of an application to which the event was sent, or null. Always null for a received event, because its
   * `endpointId` is the endpoint that received it.
   */
  applicationEndpointId: Id | null;
  /** True if there is no payload to send: it was erased, or a transform dropped the event. */
  isGone: boolean;
}

export interface Resent {
  made: number;
  /**
   * Number of deliveries that were skipped, because the addressee accepts no deliveries or a transform dropped the
   * event.
   */
  left: number;
  /** Reason why the first skipped addressee accepts no deliveries; null if all addressees accept them. */
  obstacle: string | null;
}

/** Failed deliveries to some targets, for a range of event ids. The end of the range is exclusive. */
export interface FailedRange {
  environmentId: number;
  targetIds: readonly Id[];
  beforeId: Id;
  fromId: Id;
  /** Selects only deliveries in this state; null for both states, `failed` and `dlq`. */
  status: string | null;
}

/** A failed delivery that no later delivery has superseded. */
export interface FailedRow {
  eventId: Id;
  /** Day of the event's partition, as `YYYY-MM-DD`. */
  expiresOn: string;
  targetId: Id;
  endpointId: Id | null;
  reason: string | null;
  /** True if there is no payload to send: it was erased, or a transform dropped the event. */
  isGone: boolean;
}
