import type { Id } from '#kernel/ids.js';
import type { Tenant } from '#kernel/tenant.js';

/** Which dead letters to send again. */
export interface Redelivery {
  /** Dead letters of one target, or of all. */
  targetId?: Id;
  /** Dead letters of what one endpoint received. */
  endpointId?: Id;
  /** Dead letters of events received at or after this time, in milliseconds since the epoch. */
  sinceMs?: number;
}

/** An event and a target that it is sent to again. */
export interface Redelivered {
  eventId: Id;
  /** The day of its partition, as `YYYY-MM-DD`. */
  expiresOn: string;
  targetId: Id;
  endpointId: Id | null;
}

/** Where deliveries went. */
export interface Addressee {
  targetId: Id;
  /** The application's endpoint that shares the target with others; null without one. */
  endpointId: Id | null;
  /** True for a URL that is no stored destination. */
  isAdHoc: boolean;
}

/** Why an addressee takes no deliveries now, in a sentence; null while it does. */
export type FindObstacle = (addressee: Addressee) => Promise<string | null>;

/** Picks some of the places where an event went. Throws where none should be sent to. */
export type ChooseAddressees = <T extends Addressee>(addressees: readonly T[]) => readonly T[];

/** An event, and where it is stored. */
export interface StoredEvent {
  id: Id;
  /** The day of its partition, as `YYYY-MM-DD`. */
  expiresOn: string;
}

/** Which deliveries of events are meant. */
export interface Whereabouts {
  /** Only those that ended `failed` or `dlq`; all otherwise. */
  isUndelivered: boolean;
  /** Of those also the ones that were cancelled. */
  includesCancelled: boolean;
  /** Only those to this target; null for any. */
  targetId: Id | null;
}

/** A delivery of an event that can be sent again. */
export interface SendableRow extends Redelivered, Pick<Addressee, 'isAdHoc'> {
  /** The application's endpoint that shares the target; `endpointId` may also be what received the event. */
  applicationEndpointId: Id | null;
  /** True when there is no payload to send: it was erased, or a transform dropped the event. */
  isGone: boolean;
}

/** What became of sending again. */
export interface Resent {
  /** How many deliveries were made. */
  made: number;
  /** How many were left where they are, since their addressee takes nothing, or a transform dropped the event. */
  left: number;
  /** Why the first addressee takes nothing; null when all take deliveries. */
  obstacle: string | null;
}

/** Sending again: the same event makes a new delivery. */
export abstract class Redeliveries {
  /** Sends an event again to what `choose` picks of where it went, whatever became of it. An event that went nowhere offers no choice. */
  abstract redeliverEvent(
    tenant: Tenant,
    eventId: Id,
    obstacleOf: FindObstacle,
    choose: ChooseAddressees,
  ): Promise<Resent>;

  /** Sends dead letters again: inside the caller's unit of work all of them or none, otherwise in steps that commit one by one. */
  abstract redeliverDeadLetters(tenant: Tenant, selection: Redelivery, obstacleOf: FindObstacle): Promise<Resent>;

  /**
   * Where events went, in their order. Inside the caller's transaction, until whose end no other replay of the environment makes
   * deliveries.
   */
  abstract whereabouts(
    environmentId: number,
    events: readonly StoredEvent[],
    which: Whereabouts,
  ): Promise<SendableRow[]>;

  /** Clears the disposition of a quarantined event, inside the caller's transaction, so that its status is that of its deliveries from now on. */
  abstract admit(environmentId: number, event: StoredEvent): Promise<void>;

  /** Sends events again to the given targets, inside the caller's transaction; returns how many deliveries were made. */
  abstract redeliverTo(environmentId: number, picked: readonly Redelivered[]): Promise<number>;
}

/** Which failed deliveries to look at: those of some targets, of events from one id to before another. */
export interface FailedRange {
  environmentId: number;
  targetIds: readonly Id[];
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
  targetId: Id;
  endpointId: Id | null;
  reason: string | null;
  /** True when there is no payload to send: it was erased, or a transform dropped the event. */
  isGone: boolean;
}

/** What failed at targets, for sending it again. */
export abstract class FailedDeliveries {
  /** Newest first. Inside the caller's transaction, until whose end no other replay of the environment makes deliveries. */
  abstract page(range: FailedRange, limit: number): Promise<FailedRow[]>;

  /** How many there are, of one endpoint or of any; counts up to `max`. */
  abstract count(range: FailedRange, endpointId: Id | null, max: number): Promise<number>;
}
