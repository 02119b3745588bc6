import type { PageQuery } from '#kernel/cursors.js';
import { type Id, showId } from '#kernel/ids.js';
import type { Tenant } from '#kernel/tenant.js';

export interface AttemptRow {
  number: number;
  status: number | null;
  error: string | null;
  durationMs: number;
  startedAt: Date;
  excerpt: string | null;
}

export interface AttemptQuery extends PageQuery {
  /** `delivered` for attempts with a 2xx response, `failed` for all others. */
  status?: 'delivered' | 'failed';
  event_type?: string;
  since?: string;
  until?: string;
}

export interface LoggedAttempt extends AttemptRow {
  eventId: Id;
  /** Position of the delivery among the event's deliveries, starting at 0. */
  ordinal: number;
  targetId: Id;
  messageId: Id | null;
  eventType: string;
  replayed: boolean;
  /** Set only on the delivery's latest attempt, and only while no attempt is in flight. */
  nextAttemptAt: Date | null;
}

/** The event's id followed by the delivery's position within the event. */
export const shownDelivery = (eventId: Id, ordinal: number): string => `${showId('evt', eventId)}.${ordinal}`;

export abstract class AttemptLog {
  /**
   * Returns attempts of a destination, an ad-hoc URL or an application's endpoint, newest event first. A page scans a
   * bounded number of events, so a short page may not be the last. Throws 400 for an invalid time or cursor.
   */
  abstract page(
    tenant: Tenant,
    targetId: Id,
    query: AttemptQuery,
  ): Promise<{ attempts: LoggedAttempt[]; nextCursor: string | null }>;

  /** Returns attempts oldest first. `expiresOn` is the day of the event's partition. */
  abstract ofEvent(tenant: Tenant, event: { id: Id; expiresOn: string }): Promise<AttemptRow[]>;

  /** Resolves to the first attempt as soon as it is recorded, or to null after `waitMs`. */
  abstract first(tenant: Tenant, eventId: Id, waitMs: number): Promise<AttemptRow | null>;
}
