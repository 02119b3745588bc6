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
  /** True for an ad-hoc URL, which is not a stored destination. */
  isAdHoc: boolean;
}

/** Returns a sentence that says why an addressee accepts no deliveries at present, or null if it accepts them. */
export type FindObstacle = (addressee: Addressee) => Promise<string | null>;

/** Selects some of an event's addressees. Throws if the event should not be redelivered to any. */
export type ChooseAddressees = <T extends Addressee>(addressees: readonly T[]) => readonly T[];

export interface StoredEvent {
  id: Id;
  /** Day of the event's partition, as `YYYY-MM-DD`. */
  expiresOn: string;
}

export interface Whereabouts {
  /** Selects only `failed` and `dlq` deliveries; otherwise all. */
  isUndelivered: boolean;
  /** With `isUndelivered`, also selects cancelled deliveries. */
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
  /** Reason why the first unusable addressee accepts no deliveries; null if all addressees accept them. */
  obstacle: string | null;
}

/** Redelivers events. Each redelivery creates a new delivery of the event. */
export abstract class Redeliveries {
  /** Redelivers to the earlier addressees that `choose` selects, whatever their results. The list may be empty. */
  abstract redeliverEvent(
    tenant: Tenant,
    eventId: Id,
    obstacleOf: FindObstacle,
    choose: ChooseAddressees,
  ): Promise<Resent>;

  /** Redelivers all or none in the caller's unit of work. Without one, commits in separate steps. */
  abstract redeliverDeadLetters(tenant: Tenant, selection: Redelivery, obstacleOf: FindObstacle): Promise<Resent>;

  /** Returns targets in event order. Blocks other replays of the environment until the caller's transaction ends. */
  abstract whereabouts(
    environmentId: number,
    events: readonly StoredEvent[],
    which: Whereabouts,
  ): Promise<SendableRow[]>;

  /** Makes the event's status follow from its deliveries. Runs inside the caller's transaction. */
  abstract admit(environmentId: number, event: StoredEvent): Promise<void>;

  /** Creates deliveries inside the caller's transaction. Returns their number. */
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

export abstract class FailedDeliveries {
  /** Returns the newest first. Blocks other replays of the environment until the caller's transaction ends. */
  abstract page(range: FailedRange, limit: number): Promise<FailedRow[]>;

  /** Counts the failed deliveries of one endpoint, or of all if `endpointId` is null, up to `max`. */
  abstract count(range: FailedRange, endpointId: Id | null, max: number): Promise<number>;
}
