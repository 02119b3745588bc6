import type { Id } from '#kernel/ids.js';
import type { Tenant } from '#kernel/tenant.js';

/** Selects dead letters to send again. */
export interface Redelivery {
  /** Only dead letters of this target. */
  targetId?: Id;
  /** Only dead letters of events that this endpoint received. */
  endpointId?: Id;
  /** Only dead letters of events accepted at or after this time, in milliseconds since the epoch. */
  sinceMs?: number;
}

/** An event, and a target to send it to again. */
export interface Redelivered {
  eventId: Id;
  /** Day of the event's partition, as `YYYY-MM-DD`. */
  expiresOn: string;
  targetId: Id;
  endpointId: Id | null;
}

/** The addressee of a delivery. */
export interface Addressee {
  targetId: Id;
  /** The application's endpoint that shares the target with other endpoints; null if there is none. */
  endpointId: Id | null;
  /** True for an ad-hoc URL, which is not a stored destination. */
  isAdHoc: boolean;
}

/** Returns a sentence that says why an addressee accepts no deliveries at present, or null if it accepts them. */
export type FindObstacle = (addressee: Addressee) => Promise<string | null>;

/** Picks some of the addressees of an event. Throws if none should be used. */
export type ChooseAddressees = <T extends Addressee>(addressees: readonly T[]) => readonly T[];

/** An event and its partition. */
export interface StoredEvent {
  id: Id;
  /** Day of the event's partition, as `YYYY-MM-DD`. */
  expiresOn: string;
}

/** Filter for the deliveries of events. */
export interface Whereabouts {
  /** Only deliveries that ended as `failed` or `dlq`; otherwise all. */
  isUndelivered: boolean;
  /** With `isUndelivered`: also include cancelled deliveries. */
  includesCancelled: boolean;
  /** Only deliveries to this target; null for any target. */
  targetId: Id | null;
}

/** A delivery of an event that can be sent again. */
export interface SendableRow extends Redelivered, Pick<Addressee, 'isAdHoc'> {
  /**
   * The application's endpoint that shares the target. In contrast, `endpointId` may also be the endpoint that received
   * the event.
   */
  applicationEndpointId: Id | null;
  /** True if there is no payload to send: it was erased, or a transform dropped the event. */
  isGone: boolean;
}

/** The result of sending events again. */
export interface Resent {
  /** Number of deliveries created. */
  made: number;
  /** Number of deliveries skipped, because their addressee accepts none or a transform dropped the event. */
  left: number;
  /** Why the first such addressee accepts no deliveries; null if all accept them. */
  obstacle: string | null;
}

/** Sends events again. Each time, the event gets a new delivery. */
export abstract class Redeliveries {
  /**
   * Sends an event again to those of its earlier addressees that `choose` picks, regardless of the earlier results. For
   * an event without deliveries there are no addressees to choose from.
   */
  abstract redeliverEvent(
    tenant: Tenant,
    eventId: Id,
    obstacleOf: FindObstacle,
    choose: ChooseAddressees,
  ): Promise<Resent>;

  /**
   * Sends dead letters again. Inside the caller's unit of work, all of them or none; otherwise in steps that commit
   * separately.
   */
  abstract redeliverDeadLetters(tenant: Tenant, selection: Redelivery, obstacleOf: FindObstacle): Promise<Resent>;

  /**
   * Returns the addressees of the given events, in the order of the events. Runs inside the caller's transaction and
   * blocks other replays of the environment until the transaction ends.
   */
  abstract whereabouts(
    environmentId: number,
    events: readonly StoredEvent[],
    which: Whereabouts,
  ): Promise<SendableRow[]>;

  /**
   * Clears the disposition of a quarantined event inside the caller's transaction. From then on, the event's status is
   * derived from its deliveries.
   */
  abstract admit(environmentId: number, event: StoredEvent): Promise<void>;

  /**
   * Sends events again to the given targets inside the caller's transaction. Returns the number of deliveries created.
   */
  abstract redeliverTo(environmentId: number, picked: readonly Redelivered[]): Promise<number>;
}

/** Failed deliveries at some targets, for a range of event ids. The end of the range is exclusive. */
export interface FailedRange {
  environmentId: number;
  targetIds: readonly Id[];
  beforeId: Id;
  fromId: Id;
  /** Only deliveries in this state; null for both states. */
  status: string | null;
}

/** A delivery that ended without success and was not superseded by a later one. */
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

/** Failed deliveries of targets, as needed to send them again. */
export abstract class FailedDeliveries {
  /**
   * Lists failed deliveries, newest first. Runs inside the caller's transaction and blocks other replays of the
   * environment until the transaction ends.
   */
  abstract page(range: FailedRange, limit: number): Promise<FailedRow[]>;

  /** Counts the failed deliveries of one endpoint, or of all if `endpointId` is null, up to `max`. */
  abstract count(range: FailedRange, endpointId: Id | null, max: number): Promise<number>;
}
