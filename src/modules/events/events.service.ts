import { Injectable } from '@nestjs/common';
import { Clock } from '#kernel/clock.js';
import { Cursors, type CursorQuery } from '#kernel/cursors.js';
import { badRequest, notFound } from '#kernel/errors.js';
import { idAfter, lowestIdAt, parseId, type Id } from '#kernel/ids.js';
import type { Tenant } from '#kernel/tenant.js';
import { EventSources, FAN_OUT_MAX, type AttemptRow, type EventAim } from '#modules/ledger/accept.contract.js';
import { EventsStore, type DeliveryRow, type EventContent, type EventFilter, type EventRow, type EventStatus } from './events.store.js';

/** What a caller filters the list by, as given. */
export interface EventQuery {
  status?: EventStatus;
  endpoint?: string;
  event_type?: string;
  message_id?: string;
  since?: string;
  until?: string;
  cursor?: string;
  limit?: number;
}

/** An event with everything that is known of it. */
export interface EventDetail {
  event: EventRow & EventContent;
  deliveries: DeliveryRow[];
  attempts: (AttemptRow & { ordinal: number })[];
}

const LIMIT_DEFAULT = 50;

/** Reads events: newest first, bound to the caller's environment. */
@Injectable()
export class EventsService {
  constructor(
    private readonly store: EventsStore,
    private readonly cursors: Cursors,
    private readonly clock: Clock,
    private readonly sources: EventSources,
  ) {}

  async list(tenant: Tenant, query: EventQuery): Promise<{ rows: EventRow[]; nextCursor: string | null }> {
    const { cursor, limit = LIMIT_DEFAULT, ...filters } = query;
    const list: CursorQuery = { list: 'events', filters };
    const filter = await this.filter(tenant, filters);
    if (filter === null) return { rows: [], nextCursor: null };
    if (cursor !== undefined) filter.beforeId = this.cursors.read(tenant, list, cursor);
    const rows = await this.store.list(tenant, filter, limit + 1);
    const page = rows.slice(0, limit);
    const last = page.at(-1);
    return { rows: page, nextCursor: rows.length > limit && last ? this.cursors.issue(tenant, list, last.id) : null };
  }

  /** Takes an `evt_` id, and the `msg_` id of a send. Throws 404. */
  async find(tenant: Tenant, id: string): Promise<EventDetail> {
    const event = await this.store.find(tenant, eventId(id));
    if (!event) throw notFound('event');
    const [deliveries, attempts] = await Promise.all([this.store.deliveries(tenant, event), this.store.attempts(tenant, event)]);
    return { event, deliveries, attempts };
  }

  /** Null when nothing can match. */
  private async filter(tenant: Tenant, query: Omit<EventQuery, 'cursor' | 'limit'>): Promise<EventFilter | null> {
    const message = query.message_id === undefined ? undefined : parseId('msg', query.message_id);
    const aim = query.endpoint === undefined ? {} : await this.aim(tenant, query.endpoint);
    if (message === null || aim === null) return null;
    const untilMs = query.until === undefined ? this.clock.nowMs() + 60_000 : timeMs('until', query.until);
    const sinceMs = query.since === undefined ? 0 : timeMs('since', query.since);
    return {
      // The events of a fan-out are the ids behind that of its message, and nobody else has one of those.
      beforeId: message ? idAfter(message, FAN_OUT_MAX + 1) : lowestIdAt(untilMs + 1),
      fromId: message ?? lowestIdAt(sinceMs),
      messageId: message,
      status: query.status,
      eventType: query.event_type,
      ...aim,
    };
  }

  /** What an `ep_` or `dst_` id, or the path of an endpoint, stands for; null for what is nothing here. */
  private async aim(tenant: Tenant, text: string): Promise<EventAim | null> {
    const targetId = parseId('dst', text);
    return targetId === null ? this.sources.aim(tenant.environmentId, text) : { targetId };
  }
}

/** The event that an `evt_` or `msg_` id names. Throws 404 for anything else. */
export function eventId(text: string): Id {
  const id = parseId('evt', text) ?? parseId('msg', text);
  if (id === null) throw notFound('event');
  return id;
}

/** Milliseconds of an RFC 3339 time. Throws 400. */
export function timeMs(parameter: string, text: string): number {
  const ms = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:\d{2})$/i.test(text) ? Date.parse(text) : NaN;
  if (Number.isNaN(ms)) throw badRequest(`${parameter} must be an RFC 3339 time such as 2026-11-21T09:30:00.000Z.`);
  return ms;
}
