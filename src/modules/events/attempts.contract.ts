import type { PageQuery } from '#kernel/cursors.js';
import { type Id, showId } from '#kernel/ids.js';
import type { Tenant } from '#kernel/tenant.js';

/** An attempt as it is stored. */
export interface AttemptRow {
  number: number;
  status: number | null;
  error: string | null;
  durationMs: number;
  startedAt: Date;
  excerpt: string | null;
}

/** What a caller filters attempts by, as given. */
export interface AttemptQuery extends PageQuery {
  /** Answered with 2xx, or not. */
  status?: 'delivered' | 'failed';
  event_type?: string;
  since?: string;
  until?: string;
}

/** An attempt with what it was made for. */
export interface LoggedAttempt extends AttemptRow {
  eventId: Id;
  /** Of its delivery among those of the event. */
  ordinal: number;
  /** Where the delivery went. */
  targetId: Id;
  messageId: Id | null;
  eventType: string;
  replayed: boolean;
  /** Of its delivery, when this is the latest attempt and nothing is under way. */
  nextAttemptAt: Date | null;
}

/** The id of a delivery as callers know it: that of its event, and which of the event's deliveries it is. */
export const shownDelivery = (eventId: Id, ordinal: number): string => `${showId('evt', eventId)}.${ordinal}`;

/** The attempts at one target. */
export abstract class AttemptLog {
  /**
   * Of the events of a destination, an ad-hoc URL or an application's endpoint; the newest event first. Every page looks at a
   * bounded number of events, so that it may be short and not the last. Throws 400 for a bad time or cursor.
   */
  abstract page(
    tenant: Tenant,
    targetId: Id,
    query: AttemptQuery,
  ): Promise<{ attempts: LoggedAttempt[]; nextCursor: string | null }>;

  /** Every attempt of one event, oldest first; `expiresOn` is the day of its partition. */
  abstract ofEvent(tenant: Tenant, event: { id: Id; expiresOn: string }): Promise<AttemptRow[]>;

  /** The first attempt of an event as soon as it is recorded, or null after `waitMs`. */
  abstract first(tenant: Tenant, eventId: Id, waitMs: number): Promise<AttemptRow | null>;
}
