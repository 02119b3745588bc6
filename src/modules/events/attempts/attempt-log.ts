import { Injectable } from '@nestjs/common';
import { Clock } from '#kernel/clock.js';
import { type CursorQuery, Cursors } from '#kernel/cursors.js';
import { type Id, lowestIdAt } from '#kernel/ids.js';
import type { Tenant } from '#kernel/tenant.js';
import { type AttemptQuery, type AttemptRow, type LoggedAttempt } from '../attempts.contract.js';
import { timeMs } from '../events.service.js';
import { EventsStore } from '../events.store.js';
import { AttemptLogStore, type AttemptPosition, type AttemptRange } from './attempt-log.store.js';

const LIMIT_DEFAULT = 50;
/** Maximum number of events scanned for one page, with or without filters. The next page starts after these events. */
const EVENTS_MAX = 500;
const POLL_MS = 40;

@Injectable()
export class AttemptLog {
  constructor(
    private readonly store: AttemptLogStore,
    private readonly events: EventsStore,
    private readonly cursors: Cursors,
    private readonly clock: Clock,
  ) {}

  /**
   * Returns attempts of a destination, an ad-hoc URL or an application's endpoint, newest event first. A page scans a
   * bounded number of events, so a short page may not be the last. Throws 400 for an invalid time or cursor.
   */
  async page(
    tenant: Tenant,
    targetId: Id,
    query: AttemptQuery,
  ): Promise<{ attempts: LoggedAttempt[]; nextCursor: string | null }> {
    const { cursor, limit = LIMIT_DEFAULT, ...filters } = query;
    const list: CursorQuery = { list: `attempts of ${targetId}`, filters };
    const range = this.range(tenant, targetId, filters);
    if (cursor !== undefined) range.before = positionOf(this.cursors.read(tenant, list, cursor));
    const floor = await this.store.floor(range, EVENTS_MAX);
    const rows = await this.store.page({ ...range, fromId: floor ?? range.fromId }, limit + 1);
    const attempts = rows.slice(0, limit);
    const last = rows.length > limit ? attempts.at(-1) : floor && { eventId: floor, ordinal: 0, number: 0 };
    return { attempts, nextCursor: last ? this.cursors.issue(tenant, list, textOf(last)) : null };
  }

  /** Returns the event's attempts, oldest first. `expiresOn` is the day that identifies the event's partition. */
  ofEvent(tenant: Tenant, event: { id: Id; expiresOn: string }): Promise<AttemptRow[]> {
    return this.events.attempts(tenant, event);
  }

  /** Resolves to the first attempt as soon as it is recorded, or to null after `waitMs`. */
  async first(tenant: Tenant, eventId: Id, waitMs: number): Promise<AttemptRow | null> {
    for (let waitedMs = 0; ; waitedMs += POLL_MS) {
      const row = await this.store.first(tenant, eventId);
      if (row || waitedMs >= waitMs) return row;
      await new Promise((resolve) => setTimeout(resolve, POLL_MS));
    }
  }

  private range(
    { environmentId }: Tenant,
    targetId: Id,
    { status, event_type: eventType, since, until }: AttemptQuery,
  ): AttemptRange {
    const untilMs = until === undefined ? this.clock.nowMs() + 60_000 : timeMs('until', until);
    const sinceMs = since === undefined ? 0 : timeMs('since', since);
    return {
      environmentId,
      targetId,
      status: status ?? null,
      eventType: eventType ?? null,
      before: { eventId: lowestIdAt(untilMs + 1), ordinal: 0, number: 0 },
      fromId: lowestIdAt(sinceMs),
    };
  }
}

const textOf = ({ eventId, ordinal, number }: AttemptPosition): string => `${eventId} ${ordinal} ${number}`;

function positionOf(text: string): AttemptPosition {
  const [eventId = '', ordinal, number] = text.split(' ');
  return { eventId, ordinal: Number(ordinal), number: Number(number) };
}
