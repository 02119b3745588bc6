import type { PageQuery } from '#kernel/cursors.js';
import { type Id, showId } from '#kernel/ids.js';
import type { Tenant } from '#kernel/tenant.js';

/** An attempt as stored in the database. */
export interface AttemptRow {
  number: number;
  status: number | null;
  error: string | null;
  durationMs: number;
  startedAt: Date;
  excerpt: string | null;
}

/** Filters and page of an attempt list, as given by the caller. */
export interface AttemptQuery extends PageQuery {
  /** `delivered` for attempts with a 2xx response, `failed` for all others. */
  status?: 'delivered' | 'failed';
  event_type?: string;
  since?: string;
  until?: string;
}

/** An attempt with the event and delivery that it was made for. */
export interface LoggedAttempt extends AttemptRow {
  eventId: Id;
  /** Position of the delivery among the event's deliveries, starting at 0. */
  ordinal: number;
  /** Target of the delivery. */
  targetId: Id;
  messageId: Id | null;
  eventType: string;
  replayed: boolean;
  /**
   * When the delivery's next attempt is due. Set only on the delivery's latest attempt, and only while no attempt is in
   * flight.
   */
  nextAttemptAt: Date | null;
}

/** Returns the public id of a delivery: the event's id followed by the delivery's position within the event. */
export const shownDelivery = (eventId: Id, ordinal: number): string => `${showId('evt', eventId)}.${ordinal}`;

/** The attempts at a target or of an event. */
export abstract class AttemptLog {
  /**
   * Lists attempts for a destination, an ad-hoc URL or an application's endpoint, newest event first. A page scans a
   * bounded number of events, so it can be short without being the last. Throws 400 for an invalid time or cursor.
   */
  abstract page(
    tenant: Tenant,
    targetId: Id,
    query: AttemptQuery,
  ): Promise<{ attempts: LoggedAttempt[]; nextCursor: string | null }>;

  /** Returns every attempt of one event, oldest first. `expiresOn` is the day of the event's partition. */
  abstract ofEvent(tenant: Tenant, event: { id: Id; expiresOn: string }): Promise<AttemptRow[]>;

  /** Returns the first attempt of an event as soon as it is recorded, or null after `waitMs` milliseconds. */
  abstract first(tenant: Tenant, eventId: Id, waitMs: number): Promise<AttemptRow | null>;
}
