import { Injectable } from '@nestjs/common';
import { Database, type Statement } from '#kernel/database.js';
import type { Id } from '#kernel/ids.js';
import { headersPlace, openNamed, type StoredHeaders } from '#kernel/sealed-headers.js';
import type { Tenant } from '#kernel/tenant.js';
import { Vault } from '#kernel/vault.js';
import type { Disposition } from '#engine/inbound/disposition.js';
import type { AttemptRow } from './attempts.contract.js';
import type { Direction } from '#modules/ledger/claims.contract.js';

export type DeliveryStatus = 'delivered' | 'failed' | 'retrying' | 'dlq';
export type EventStatus = DeliveryStatus | Disposition;

/** An event without its payload, and its status as its deliveries make it. */
export interface EventRow {
  id: Id;
  expiresOn: string;
  /** The message of a fan-out that it belongs to. */
  messageId: Id | null;
  /** The destination, the ad-hoc URL's id, or the endpoint that received it or that it was fanned out to. */
  targetId: Id;
  /** The ad-hoc URL, or the path of the endpoint that received it. */
  url: string | null;
  direction: Direction;
  eventType: string;
  status: EventStatus;
}

/** What only the detail shows. */
export interface EventContent {
  /** The application that a message was sent to. */
  applicationId: Id | null;
  /** When the payload was erased. */
  erasedAt: Date | null;
  /** What was noted when it was received. */
  note: string | null;
  headers: Record<string, string> | null;
  payload: string | null;
  /** In place of a payload that is no text. */
  body: Buffer | null;
  payloadBytes: number;
}

/** One delivery of an event, open or settled. */
export interface DeliveryRow {
  ordinal: number;
  targetId: Id;
  status: DeliveryStatus;
  reason: string | null;
  nextAttemptAt: Date | null;
  replayed: boolean;
  superseded: boolean;
}

/** What a list asks for; ids bound the time range, since an id is made when its event is received. */
export interface EventFilter {
  beforeId: Id;
  fromId: Id;
  status?: EventStatus;
  eventType?: string;
  /** An application's endpoint that has a URL, as the target of its events. */
  targetId?: Id;
  /** An endpoint that received them, or that they were fanned out to. */
  endpointId?: Id;
  /** The message that they belong to; the range holds no more than its ids then. */
  messageId?: Id;
  /** Where they were delivered to, or are to be: a destination, or an ad-hoc URL. With a status, a delivery there has it too. */
  destinationId?: Id;
  /** The application that they were sent to. */
  applicationId?: Id;
}

/**
 * An event's status is not stored: it is what its deliveries say (contract, section 4), so it can't disagree with
 * them and settling a delivery writes no event. Served by due_deliveries_pkey and deliveries_pkey. Scalar subqueries
 * on purpose: the planner may turn an `exists` into a hash of every open delivery.
 */
export const STATUS = `
  coalesce(nullif(e.disposition, 'ignored'), (
    select 'retrying' from due_deliveries o
    where o.environment_id = e.environment_id and o.event_id = e.id and not o.superseded limit 1
  ), (
    select case when bool_or(s.status = 'dlq') then 'dlq' when bool_or(s.status = 'failed') then 'failed' else 'delivered' end
    from deliveries s
    where s.environment_id = e.environment_id and s.event_id = e.id and s.expires_on = e.expires_on and not s.superseded
    having count(*) > 0
  ), e.disposition, 'failed')`;

const COLUMNS = `
  e.id, e.expires_on::text as "expiresOn", e.message_id as "messageId", e.target_id as "targetId", e.url, e.direction, e.event_type as "eventType"`;

/**
 * Where a list of one status starts from, newest first: the smallest set that holds every such event. Open deliveries
 * by due_deliveries_pkey, delivered ones by deliveries_pkey, the others by deliveries_status_idx, or with a target by
 * deliveries_target_id_idx.
 */
const SOURCES: Record<DeliveryStatus, string> = {
  retrying: 'due_deliveries d where true',
  delivered: `deliveries d where d.status = 'delivered'`,
  dlq: `deliveries d where d.status = 'dlq'`,
  failed: `deliveries d where d.status = 'failed'`,
};

/** The statement of a combination of filters; one name for each. */
export function listStatement(filter: Omit<EventFilter, 'beforeId' | 'fromId'>): Statement {
  const { status, eventType, targetId, endpointId, messageId, destinationId, applicationId } = filter;
  const isAimed = targetId !== undefined || endpointId !== undefined;
  const kinds = [eventType, isAimed || undefined, endpointId, messageId, destinationId, applicationId];
  const name = `events_list_${status ?? 'any'}_${kinds.map((kind) => (kind === undefined ? 0 : 1)).join('')}`;
  // The casts give the parameters a type also where they are not used.
  return { name, text: `with unused as (select $5::text, $6::uuid, $7::uuid, $8::uuid, $9::uuid) ${listText(filter)}` };
}

function listText({ status, eventType, targetId, endpointId, messageId, destinationId, applicationId }: Omit<EventFilter, 'beforeId' | 'fromId'>): string {
  const isAimed = targetId !== undefined || endpointId !== undefined;
  const own = `${eventType === undefined ? '' : 'and e.event_type = $5'} ${applicationId === undefined ? '' : OF_APPLICATION}`;
  const conditions = `${isAimed ? 'and e.target_id = $6' : ''} ${own}`;
  if (messageId !== undefined) return fromEvents(`and (e.id = $7 or e.message_id = $7) ${conditions} ${destinationId === undefined ? '' : ROUTED}`, status);
  const isOfDelivery = status === 'retrying' || status === 'dlq' || status === 'failed';
  if (destinationId !== undefined) return isOfDelivery ? fromDeliveries(status, conditions, 'and d.target_id = $8') : fromRouted(conditions, status);
  if (applicationId !== undefined && !isAimed && !isOfDelivery) return fromMessages(conditions, status);
  if (status === 'quarantined' || status === 'parked' || status === 'ignored') return fromDispositions(status, conditions);
  const isCommon = status === undefined || (status === 'delivered' && (eventType !== undefined || isAimed));
  const aim = endpointId === undefined ? 'and d.target_id = $6 and d.endpoint_id is null' : 'and d.endpoint_id = $6';
  // The delivery says whose it is: the event need not be asked, which would only lead the planner to another index.
  return isCommon ? fromEvents(conditions, status) : fromDeliveries(status, own, isAimed ? aim : '');
}

/** By messages_pkey. A scalar subquery, as in the status. */
const OF_APPLICATION = `
  and (select m.application_id from messages m
       where m.environment_id = e.environment_id and m.id = e.message_id and m.expires_on = e.expires_on) = $9`;

/** By due_deliveries_pkey and deliveries_pkey, for an event at a time. */
const ROUTED = `
  and (e.target_id = $8 or (
    select true from due_deliveries o where o.environment_id = e.environment_id and o.event_id = e.id and o.target_id = $8 limit 1
  ) or (
    select true from deliveries s
    where s.environment_id = e.environment_id and s.event_id = e.id and s.expires_on = e.expires_on and s.target_id = $8 limit 1
  ))`;

const inStatus = (status: EventStatus | undefined): string => (status === undefined ? '' : `and ${STATUS} = '${status}'`);

/** events_disposition_idx. */
function fromDispositions(disposition: Disposition, conditions: string): string {
  return `
    select ${COLUMNS}, e.disposition as status from events e
    where e.environment_id = $1 and e.disposition = '${disposition}' and ${STATUS} = e.disposition and e.id < $2 and e.id >= $3 ${conditions}
    order by e.id desc limit $4`;
}

/** events_pkey, or events_event_type_idx and events_target_id_idx with those filters. */
function fromEvents(conditions: string, status?: EventStatus): string {
  return `
    select ${COLUMNS}, ${STATUS} as status from events e
    where e.environment_id = $1 and e.id < $2 and e.id >= $3 ${conditions} ${inStatus(status)} order by e.id desc limit $4`;
}

/** An event can have several deliveries of one status: the last one stands for it. */
function fromDeliveries(status: DeliveryStatus, conditions: string, aimed: string): string {
  return eventsOf(`${SOURCES[status]}
    and d.environment_id = $1 and d.event_id < $2 and d.event_id >= $3 and not d.superseded ${aimed}`, conditions, status);
}

/** The events behind rows `d`, each once, newest first, by events_pkey of the one partition. */
function eventsOf(rows: string, conditions: string, status: EventStatus | undefined): string {
  return `
    select e.* from (
      select distinct on (d.event_id) d.event_id, d.expires_on from ${rows}
      order by d.event_id desc
    ) c cross join lateral (
      select ${COLUMNS}, ${STATUS} as status from events e
      where e.environment_id = $1 and e.id = c.event_id and e.expires_on = c.expires_on ${conditions} ${inStatus(status)}
      offset 0
    ) e
    order by c.event_id desc limit $4`;
}

/**
 * What went to a destination: what was sent there by itself (events_target_id_idx), and what an endpoint sent there: settled
 * (deliveries_routed_idx), or open. For the open ones due_deliveries_pkey is walked, and no further than the page and its window reach.
 */
function fromRouted(conditions: string, status: EventStatus | undefined): string {
  const range = (id: string): string => `and ${id} < $2 and ${id} >= $3`;
  const settled = `(
      select e.id as event_id, e.expires_on from events e where e.environment_id = $1 and e.target_id = $8 ${range('e.id')}
      union all
      select s.event_id, s.expires_on from deliveries s
      where s.environment_id = $1 and s.target_id = $8 and s.endpoint_id is not null ${range('s.event_id')}
    ) d`;
  const open = `due_deliveries d
      where d.environment_id = $1 and d.target_id = $8 and d.endpoint_id is not null and d.event_id < $2
        and d.event_id >= coalesce((select id from settled order by id desc offset $4::int - 1 limit 1), $3)`;
  return `, settled as materialized (${eventsOf(settled, conditions, status)}), open as materialized (${eventsOf(open, conditions, status)})
    select * from settled union select * from open order by id desc limit $4`;
}

/** Messages from messages_application_id_idx; the events of each are the next ones behind its id in events_pkey. */
function fromMessages(conditions: string, status: EventStatus | undefined): string {
  return `
    select e.* from (
      select m.id, m.expires_on, greatest(m.fanout, 1) as events from messages m
      where m.environment_id = $1 and m.application_id = $9 and m.id < $2 and m.id >= $3 order by m.id desc
    ) c cross join lateral (
      select n.id from events n where n.environment_id = $1 and n.expires_on = c.expires_on and n.id >= c.id order by n.id limit c.events
    ) n cross join lateral (
      select ${COLUMNS}, ${STATUS} as status from events e
      where e.environment_id = $1 and e.id = n.id and e.expires_on = c.expires_on and e.message_id = c.id and e.id < $2 ${conditions.replace(OF_APPLICATION, '')} ${inStatus(status)}
      offset 0
    ) e
    order by c.id desc, n.id desc limit $4`;
}

/** Open deliveries, of whatever target, that one page may look through. */
export const WINDOW_ROWS = 10_000;

/** By due_deliveries_pkey alone. */
const WINDOW: Statement = {
  name: 'events_window',
  text: `
    select event_id as id from due_deliveries where environment_id = $1::int and event_id < $2::uuid and event_id >= $3::uuid
    order by event_id desc offset $4::int limit 1`,
};

/**
 * Whether a list picks from the open deliveries by what no index leads them with. Settled ones have indexes by target; one for
 * open ones would be paid by everything that is accepted.
 */
function searchesOpen({ status, eventType, targetId, endpointId, messageId, destinationId, applicationId }: EventFilter): boolean {
  if (messageId !== undefined) return false;
  if (status !== 'retrying') return destinationId !== undefined && status !== 'dlq' && status !== 'failed';
  return [eventType, targetId, endpointId, destinationId, applicationId].some((given) => given !== undefined);
}

const FIND: Statement = {
  name: 'events_find',
  text: `
    select ${COLUMNS}, ${STATUS} as status, coalesce(e.headers, m.headers) as headers, coalesce(e.payload, m.payload) as payload, e.body,
           e.payload_bytes as "payloadBytes", m.application_id as "applicationId", coalesce(e.erased_at, m.erased_at) as "erasedAt", r.note
    from events e
    left join messages m on m.environment_id = e.environment_id and m.id = e.message_id and m.expires_on = e.expires_on
    left join requests r on e.direction = 'inbound' and r.environment_id = e.environment_id and r.id = e.id and r.expires_on = e.expires_on
    where e.environment_id = $1 and e.id = $2`,
};

const DELIVERIES: Statement = {
  name: 'events_deliveries',
  text: `
    select ordinal, target_id as "targetId", 'retrying' as status, null as reason,
           due_at as "nextAttemptAt", replayed, superseded
    from due_deliveries where environment_id = $1 and event_id = $2
    union all
    select ordinal, target_id, status, reason, null, replayed, superseded
    from deliveries where environment_id = $1 and event_id = $2 and expires_on = $3::date
    order by ordinal`,
};

const ATTEMPTS: Statement = {
  name: 'events_attempts',
  text: `
    select ordinal, number, status, error, duration_ms as "durationMs", started_at as "startedAt", response_excerpt as excerpt
    from attempts where environment_id = $1 and event_id = $2 and expires_on = $3::date
    order by started_at, ordinal, number`,
};

/** Statements that read events. */
@Injectable()
export class EventsStore {
  constructor(
    private readonly database: Database,
    private readonly vault: Vault,
  ) {}

  /** The oldest id that one page may look at; null when it may look at everything. */
  async windowEnd(tenant: Tenant, filter: EventFilter): Promise<Id | null> {
    if (!searchesOpen(filter)) return null;
    const [end] = await this.database.read<{ id: Id }>(WINDOW, [tenant.environmentId, filter.beforeId, filter.fromId, WINDOW_ROWS]);
    return end?.id ?? null;
  }

  list(tenant: Tenant, filter: EventFilter, limit: number): Promise<EventRow[]> {
    return this.database.read(listStatement(filter), [
      tenant.environmentId,
      filter.beforeId,
      filter.fromId,
      limit,
      filter.eventType ?? null,
      filter.targetId ?? filter.endpointId ?? null,
      filter.messageId ?? null,
      filter.destinationId ?? null,
      filter.applicationId ?? null,
    ]);
  }

  /** Served by events_pkey, one look-up in each partition. */
  async find(tenant: Tenant, id: Id): Promise<(EventRow & EventContent) | null> {
    const [row] = await this.database.read<EventRow & Omit<EventContent, 'headers'> & { headers: StoredHeaders | null }>(FIND, [tenant.environmentId, id]);
    if (!row) return null;
    const place = headersPlace({ environmentId: tenant.environmentId, eventId: id, messageId: row.messageId });
    return { ...row, headers: row.headers && openNamed(this.vault, place, row.headers) };
  }

  deliveries(tenant: Tenant, event: EventRow): Promise<DeliveryRow[]> {
    return this.database.read(DELIVERIES, [tenant.environmentId, event.id, event.expiresOn]);
  }

  attempts(tenant: Tenant, event: Pick<EventRow, 'id' | 'expiresOn'>): Promise<(AttemptRow & { ordinal: number })[]> {
    return this.database.read(ATTEMPTS, [tenant.environmentId, event.id, event.expiresOn]);
  }
}
