import { Injectable } from '@nestjs/common';
import type { Circuit } from '#engine/circuit.js';
import { Clock } from '#kernel/clock.js';
import { type CursorQuery, Cursors } from '#kernel/cursors.js';
import { ApiError, badRequest, noSuch } from '#kernel/errors.js';
import { type Id, idAfter, idTimeMs, lowestIdAt, parseId, showId } from '#kernel/ids.js';
import type { Tenant } from '#kernel/tenant.js';
import { CircuitsStore } from '#modules/destinations/circuits.store.js';
import { Targets } from '#modules/destinations/targets.js';
import { FAN_OUT_MAX } from '#modules/ledger/accept.contract.js';
import type { Direction } from '#modules/ledger/claims.contract.js';
import type { AttemptRow } from './attempts.contract.js';
import {
  type AttemptResult,
  type ErrorClass,
  type EventFilter,
  isDisposition,
  UNDELIVERED,
  windowRows,
} from './event-lists.js';
import { EventLookup } from './event-lookup.js';
import { EVENT_STATUSES, type EventRow, type EventStatus } from './event-rows.js';
import { type EventAim } from './event-sources.contract.js';
import { EventSources } from './event-sources.js';
import { type DeliveryRow, type EventContent, type EventProgress, EventsStore } from './events.store.js';
import { MessagesStore } from './messages.store.js';
import { type PulledDelivery, PulledStore } from './pulled.store.js';

export interface EventQuery {
  /** An `EventStatus` or a list of them, already validated by the request's schema. */
  status?: unknown;
  endpoint?: string;
  destination?: string;
  application?: string;
  event_type?: string;
  message_id?: string;
  direction?: Direction;
  error?: ErrorClass;
  response_status?: number;
  dedupe_id?: string;
  /** Search text: an id that identifies one or several events. */
  q?: string;
  since?: string;
  until?: string;
  cursor?: string;
  limit?: number;
}

export interface EventDetail {
  event: EventRow & EventContent;
  deliveries: DeliveryRow[];
  attempts: (AttemptRow & { delivery: DeliveryRow })[];
  /** Circuit breakers of the targets of open deliveries. Circuit breakers in their initial state are left out. */
  circuits: ReadonlyMap<Id, Circuit>;
  /** Deliveries that consumers pull, by ordinal. */
  pulled: ReadonlyMap<number, PulledDelivery>;
}

export interface ListedEvent {
  event: EventRow;
  progress: EventProgress | null;
  /** True if consumers acknowledged all deliveries of an event that has only pull deliveries. Null for other events. */
  isAcknowledged: boolean | null;
}

export interface ListedEvents {
  rows: ListedEvent[];
  nextCursor: string | null;
  /**
   * Set if the page ended at the scan limit: all events since this time (in milliseconds since the epoch) were scanned.
   */
  searchedTo: number | null;
}

export interface EventCount {
  count: number;
  isCapped: boolean;
  /**
   * Set if the count stopped at the scan limit: all events since this time (in milliseconds since the epoch) were
   * counted.
   */
  searchedTo: number | null;
}

const LIMIT_DEFAULT = 50;
/** Maximum number of events to count. Larger numbers are not useful in a list. */
const COUNT_MAX = 10_000;
const COUNT_WINDOWS = 2;

@Injectable()
export class EventsService {
  constructor(
    private readonly lookup: EventLookup,
    private readonly store: EventsStore,
    private readonly cursors: Cursors,
    private readonly clock: Clock,
    private readonly sources: EventSources,
    private readonly messages: MessagesStore,
    private readonly circuits: CircuitsStore,
    private readonly targets: Targets,
    private readonly pulled: PulledStore,
  ) {}

  async list(tenant: Tenant, query: EventQuery): Promise<ListedEvents> {
    const { cursor, limit = LIMIT_DEFAULT, ...filters } = query;
    const list: CursorQuery = {
      list: 'events',
      filters: { ...filters, ...(filters.status !== undefined && { status: statusesOf(filters.status) }) },
    };
    const filter = await this.filter(tenant, filters);
    if (filter === null) return { rows: [], nextCursor: null, searchedTo: null };
    if (cursor !== undefined) filter.beforeId = this.cursors.read(tenant, list, cursor);
    const windowEnd = await this.store.windowEnd(tenant, filter);
    const rows = await this.store.list(
      tenant,
      windowEnd === null ? filter : { ...filter, fromId: windowEnd },
      limit + 1,
    );
    const page = rows.slice(0, limit);
    // A page that ends at its scan limit can be short or empty while more events follow.
    const isFull = rows.length > limit;
    const reached = isFull ? page.at(-1)?.id : windowEnd;
    const progress = new Map(
      page.length === 0 ? [] : (await this.store.progress(tenant, page)).map((each) => [each.id, each]),
    );
    const acknowledged = await this.acknowledged(
      tenant,
      page.filter(({ id, status }) => status === 'delivered' && progress.get(id)?.attemptCount === 0),
    );
    return {
      rows: page.map((event) => ({
        event,
        progress: progress.get(event.id) ?? null,
        isAcknowledged: acknowledged.get(event.id) ?? null,
      })),
      nextCursor: reached ? this.cursors.issue(tenant, list, reached) : null,
      searchedTo: !isFull && windowEnd !== null ? idTimeMs(windowEnd) : null,
    };
  }

  /**
   * Returns whether consumers acknowledged all deliveries that they pull of an event. Omits events without pull
   * deliveries.
   */
  private async acknowledged(tenant: Tenant, events: readonly EventRow[]): Promise<ReadonlyMap<Id, boolean>> {
    const acknowledged = new Map<Id, boolean>();
    if (events.length === 0) return acknowledged;
    for (const { eventId, feedId } of await this.pulled.find(tenant, events))
      acknowledged.set(eventId, (acknowledged.get(eventId) ?? true) && feedId !== null);
    return acknowledged;
  }

  async count(tenant: Tenant, query: Omit<EventQuery, 'cursor' | 'limit'>): Promise<EventCount> {
    const filter = await this.filter(tenant, query);
    if (filter === null) return { count: 0, isCapped: false, searchedTo: null };
    const windowEnd = await this.store.windowEnd(tenant, filter, COUNT_WINDOWS * windowRows(filter));
    const count = await this.store.count(
      tenant,
      windowEnd === null ? filter : { ...filter, fromId: windowEnd },
      COUNT_MAX + 1,
    );
    const searchedTo = count > COUNT_MAX || windowEnd === null ? null : idTimeMs(windowEnd);
    return { count: Math.min(count, COUNT_MAX), isCapped: count > COUNT_MAX || windowEnd !== null, searchedTo };
  }

  /**
   * Returns an event by its id or its message's id. For the id of a fan-out, throws a 404 that contains the URL of the
   * event list.
   */
  async find(tenant: Tenant, text: string): Promise<EventDetail> {
    const id = eventId(text);
    const event = await this.lookup.find(tenant, id);
    if (!event) throw await this.absence(tenant, id);
    // Deliveries must be read after attempts, so that the delivery of every attempt is included.
    const attempts = await this.store.attempts(tenant, event);
    const deliveries = await this.store.deliveries(tenant, event);
    const open = deliveries.filter(({ status }) => status === 'retrying').map(({ targetId }) => targetId);
    const circuits =
      open.length === 0 ? new Map<Id, Circuit>() : await this.circuits.findAll(tenant.environmentId, open);
    const pulled = deliveries.some(({ status }) => status === 'delivered')
      ? await this.pulled.find(tenant, [event])
      : [];
    const byOrdinal = new Map(deliveries.map((delivery) => [delivery.ordinal, delivery]));
    return {
      event,
      deliveries,
      circuits,
      pulled: new Map(pulled.map((each) => [each.ordinal, each])),
      attempts: attempts.flatMap((row) => {
        const delivery = byOrdinal.get(row.ordinal);
        return delivery ? [{ ...row, delivery }] : [];
      }),
    };
  }

  private async absence(tenant: Tenant, id: Id): Promise<ApiError> {
    const message = await this.messages.find(tenant, id);
    if (message === null) return noSuch('event');
    const [messageId, application] = [showId('msg', id), showId('app', message.applicationId)];
    const [events, sent] = [`/v1/events?message_id=${messageId}`, `/v1/app/${application}/messages/${messageId}`];
    const text = `This message went to ${message.fanout} endpoints of an application, and each of them has an event of its own: list them with GET ${events}.`;
    return new ApiError('not_found', text, { message_id: messageId, fanout: message.fanout, events, message: sent });
  }

  /** Resolves the filters of a list. Returns null if no event can match. Throws 400 for invalid filters. */
  async filter(tenant: Tenant, query: Omit<EventQuery, 'cursor' | 'limit'>): Promise<EventFilter | null> {
    const message = query.message_id === undefined ? undefined : parseId('msg', query.message_id);
    const named = query.q === undefined ? undefined : namedBy(query.q.trim());
    const aim = query.endpoint === undefined ? {} : await this.aim(tenant, query.endpoint);
    if (message === null || named === null || aim === null) return null;
    const destinationId =
      query.destination === undefined ? aim.destinationId : await this.destination(tenant, query.destination);
    if (aim.destinationId !== undefined && aim.destinationId !== destinationId) {
      throw badRequest('endpoint is the id of one destination, and destination is another one: omit one of them.');
    }
    const applicationId =
      query.application === undefined
        ? undefined
        : await this.sources.application(tenant.environmentId, query.application);
    if (destinationId === null || applicationId === null) return null;
    // Endpoints of other applications cannot match. Inbound endpoints cannot match, because they have no application.
    if (applicationId !== undefined && aim.applicationId !== undefined && aim.applicationId !== applicationId)
      return null;
    if (applicationId !== undefined && (query.direction === 'inbound' || query.dedupe_id !== undefined)) return null;
    const statuses = possible(query, destinationId !== undefined, applicationId !== undefined);
    if (statuses?.length === 0) return null;
    const untilMs = query.until === undefined ? this.clock.nowMs() + 60_000 : timeMs('until', query.until);
    const sinceMs = query.since === undefined ? 0 : timeMs('since', query.since);
    const messageId = message ?? named?.messageId;
    if (message !== undefined && named?.messageId !== undefined && named.messageId !== message) return null;
    // The ids of a fan-out's events directly follow the message's id. No other event has an id in this range.
    const ranges = [
      { fromId: lowestIdAt(sinceMs), beforeId: lowestIdAt(untilMs + 1) },
      ...(messageId === undefined ? [] : [{ fromId: messageId, beforeId: idAfter(messageId, FAN_OUT_MAX + 1) }]),
      ...(named?.eventId === undefined ? [] : [{ fromId: named.eventId, beforeId: idAfter(named.eventId, 1) }]),
    ];
    return {
      beforeId: ranges.map(({ beforeId }) => beforeId).sort()[0] ?? '',
      fromId:
        ranges
          .map(({ fromId }) => fromId)
          .sort()
          .at(-1) ?? '',
      messageId,
      ...(statuses?.length === 1 ? { status: statuses[0] } : { statuses }),
      eventType: query.event_type,
      targetId: aim.targetId,
      endpointId: aim.endpointId,
      destinationId,
      applicationId,
      direction: query.direction,
      error: resultOf(query),
      dedupeId: query.dedupe_id,
    };
  }

  /** Resolves an `ep_` or `dst_` id, or the path of an endpoint. Returns null if there is no match. */
  private async aim(tenant: Tenant, text: string): Promise<(EventAim & { destinationId?: Id }) | null> {
    const destinationId = parseId('dst', text);
    return destinationId === null ? this.sources.aim(tenant.environmentId, text) : { destinationId };
  }

  /**
   * Resolves a destination's id or an ad-hoc URL. Returns null for any other text, and for a URL that is not allowed.
   */
  private async destination({ environmentId }: Tenant, text: string): Promise<Id | null> {
    if (!/^https?:/i.test(text)) return parseId('dst', text);
    try {
      return (await this.targets.ofUrl(environmentId, text)).targetId;
    } catch (error) {
      if (error instanceof ApiError && error.type === 'validation_failed') return null;
      throw error;
    }
  }
}

/** Returns the statuses without duplicates and in a fixed order, regardless of the order given. */
function statusesOf(given: unknown): EventStatus[] {
  return EVENT_STATUSES.filter((status) => [given].flat().includes(status));
}

/** Returns the states that the filters allow, or undefined if they allow any state. */
function possible(query: EventQuery, hasDestination: boolean, hasApplication: boolean): EventStatus[] | undefined {
  const { status } = query;
  const ends = statesAfter(query);
  if (status === undefined && ends === null) return undefined;
  const asked = status === undefined && ends !== null ? [...ends] : statusesOf(status);
  const rest = asked.filter((each) => {
    if (ends !== null && !ends.includes(each)) return false;
    // An event with a disposition has no destination. An event sent to an application is never quarantined or parked.
    return (
      !(hasDestination && isDisposition(each)) && !(hasApplication && (each === 'quarantined' || each === 'parked'))
    );
  });
  return rest.length === EVENT_STATUSES.length ? undefined : rest;
}

/** Returns the states of events whose last attempt can have the given result. Null if no result is given. */
function statesAfter({ error, response_status: status }: EventQuery): readonly EventStatus[] | null {
  // A failed last attempt excludes the status `delivered`. It also excludes dispositions such as `parked`, because
  // these events had no attempt.
  if (error !== undefined) return status === undefined || error === classOf(status) ? UNDELIVERED : [];
  if (status === undefined) return null;
  // After a 2xx response, `failed` is possible, too: an accepted email can bounce later.
  return classOf(status) === '2xx' ? ['delivered', 'failed'] : UNDELIVERED;
}

/**
 * Returns the result by which the list is filtered. Prefers a status, because a status is more exact than an error
 * class.
 */
function resultOf({ error, response_status: status }: EventQuery): AttemptResult | undefined {
  return status === undefined ? error : `${status}`;
}

const classOf = (status: number): string => `${Math.floor(status / 100)}xx`;

/**
 * Parses the id of an event (`evt_`), a delivery, a request (`req_`) or a message (`msg_`). Returns null for other
 * text.
 */
function namedBy(text: string): { eventId?: Id; messageId?: Id } | null {
  const messageId = parseId('msg', text);
  if (messageId !== null) return { messageId };
  const eventId = parseId('evt', text.replace(/\.\d{1,5}$/, '')) ?? parseId('req', text);
  return eventId === null ? null : { eventId };
}

/** Parses an `evt_` or `msg_` id. Throws 404 for anything else. */
export function eventId(text: string): Id {
  const id = parseId('evt', text) ?? parseId('msg', text);
  if (id === null) throw noSuch('event');
  return id;
}

/** Parses a time in RFC 3339. Throws 400 for any other text. */
export function timeMs(parameter: string, text: string): number {
  const ms = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:\d{2})$/i.test(text) ? Date.parse(text) : NaN;
  if (Number.isNaN(ms)) throw badRequest(`${parameter} must be an RFC 3339 time such as 2026-11-21T09:30:00.000Z.`);
  return ms;
}
