import type { Id } from '#kernel/ids.js';
import type { Tenant } from '#kernel/tenant.js';

export interface Redelivery {
  targetId?: Id;
  /** Only dead letters of events that this endpoint received. */
  endpointId?: Id;
  /** Only dead letters of events accepted at or after this time. */
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
  /** The application's endpoint that shares the target with other endpoints; null if there is none. */
  endpointId: Id | null;
  /** An ad-hoc URL is not a stored destination. */
  isAdHoc: boolean;
}

/** Returns a sentence that says why an addressee accepts no deliveries at present, or null if it accepts them. */
export type FindObstacle = (addressee: Addressee) => Promise<string | null>;

/** Picks some of the addressees of an event. Throws if none should be used. */
export type ChooseAddressees = <T extends Addressee>(addressees: readonly T[]) => readonly T[];

export interface StoredEvent {
  id: Id;
  /** Day of the event's partition, as `YYYY-MM-DD`. */
  expiresOn: string;
}

export interface Whereabouts {
  /** Only `failed` or `dlq` ones; otherwise all. */
  isUndelivered: boolean;
  /** Also cancelled ones, with `isUndelivered`. */
  includesCancelled: boolean;
  /** Null for any target. */
  targetId: Id | null;
}

export interface SendableRow extends Redelivered, Pick<Addressee, 'isAdHoc'> {
  /** The application's endpoint that shares the target. `endpointId` may also be the one that received the event. */
  applicationEndpointId: Id | null;
  /** True if there is no payload to send: it was erased, or a transform dropped the event. */
  isGone: boolean;
}

export interface Resent {
  made: number;
  /** Number of deliveries skipped, because their addressee accepts none or a transform dropped the event. */
  left: number;
  /** Why the first such addressee accepts no deliveries; null if all accept them. */
  obstacle: string | null;
}

/** Each time, the event gets a new delivery. */
export abstract class Redeliveries {
  /** To those earlier addressees that `choose` picks, whatever the earlier results. An event may have none. */
  abstract redeliverEvent(
    tenant: Tenant,
    eventId: Id,
    obstacleOf: FindObstacle,
    choose: ChooseAddressees,
  ): Promise<Resent>;

  /** In the caller's unit of work, all or none; otherwise in steps that commit separately. */
  abstract redeliverDeadLetters(tenant: Tenant, selection: Redelivery, obstacleOf: FindObstacle): Promise<Resent>;

  /** In the order of the events, in the caller's transaction. Blocks other replays of the environment until its end. */
  abstract whereabouts(
    environmentId: number,
    events: readonly StoredEvent[],
    which: Whereabouts,
  ): Promise<SendableRow[]>;

  /** Inside the caller's transaction. From then on, the event's status is derived from its deliveries. */
  abstract admit(environmentId: number, event: StoredEvent): Promise<void>;

  /** Inside the caller's transaction. Returns the number of deliveries created. */
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

/** Not superseded by a later delivery. */
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

export abstract class FailedDeliveries {
  /** Newest first, in the caller's transaction. Blocks other replays of the environment until its end. */
  abstract page(range: FailedRange, limit: number): Promise<FailedRow[]>;

  /** Counts the failed deliveries of one endpoint, or of all if `endpointId` is null, up to `max`. */
  abstract count(range: FailedRange, endpointId: Id | null, max: number): Promise<number>;
}
