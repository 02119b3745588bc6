import type { PageQuery } from '#kernel/cursors.js';
import { type Id, showId } from '#kernel/ids.js';

export interface AttemptRow {
  number: number;
  status: number | null;
  error: string | null;
  durationMs: number;
  startedAt: Date;
  excerpt: string | null;
}

export interface AttemptQuery extends PageQuery {
  /** Selects attempts by result: `delivered` for a 2xx response, `failed` for all others. */
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

/** Returns the id of a delivery: the event's id followed by the delivery's position within the event. */
export const shownDelivery = (eventId: Id, ordinal: number): string => `${showId('evt', eventId)}.${ordinal}`;
