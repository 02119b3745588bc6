import { Injectable } from '@nestjs/common';
import { Database, type Statement } from '#kernel/database.js';
import type { Id } from '#kernel/ids.js';
import type { Tenant } from '#kernel/tenant.js';
import type { AttemptRow, Direction, Disposition } from '#modules/ledger/accept.contract.js';

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
  /** A destination that events were sent to. */
  targetId?: Id;
  /** An endpoint that received them. */
  endpointId?: Id;
  /** The message that they belong to; the range holds no more than its ids then. */
  messageId?: Id;
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
  const { status, eventType, targetId, endpointId, messageId } = filter;
  const typed = eventType === undefined ? '' : 'and e.event_type = $5';
  const isAimed = targetId !== undefined || endpointId !== undefined;
  const aimed = isAimed ? 'and e.target_id = $6' : '';
  const aim = endpointId === undefined ? 'and d.target_id = $6 and d.endpoint_id is null' : 'and d.endpoint_id = $6';
  const ofMessage = `and (e.id = $7 or e.message_id = $7) ${typed} ${aimed}`;
  const text = messageId === undefined ? listText(status, typed, aimed, isAimed ? aim : '') : fromEvents(ofMessage, status);
  const kinds = [eventType, isAimed || undefined, endpointId, messageId].map((kind) => (kind === undefined ? 0 : 1)).join('');
  // The casts give the parameters a type also where they are not used.
  return { name: `events_list_${status ?? 'any'}_${kinds}`, text: `with unused as (select $5::text, $6::uuid, $7::uuid) ${text}` };
}

function listText(status: EventStatus | undefined, typed: string, aimed: string, aim: string): string {
  if (status === 'quarantined' || status === 'parked' || status === 'ignored') return fromDispositions(status, `${typed} ${aimed}`);
  const isCommon = status === undefined || (status === 'delivered' && (typed || aimed) !== '');
  return isCommon ? fromEvents(`${typed} ${aimed}`, status) : fromDeliveries(status, typed, aim);
}

/** events_disposition_idx. */
function fromDispositions(disposition: Disposition, conditions: string): string {
  return `
    select ${COLUMNS}, e.disposition as status from events e
    where e.environment_id = $1 and e.disposition = '${disposition}' and ${STATUS} = e.disposition and e.id < $2 and e.id >= $3 ${conditions}
    order by e.id desc limit $4`;
}

/** events_pkey, or events_event_type_idx and events_target_id_idx with those filters. */
function fromEvents(conditions: string, status?: EventStatus): string {
  const wanted = status === undefined ? '' : `and ${STATUS} = '${status}'`;
  return `
    select ${COLUMNS}, ${STATUS} as status from events e
    where e.environment_id = $1 and e.id < $2 and e.id >= $3 ${conditions} ${wanted} order by e.id desc limit $4`;
}

/** An event can have several deliveries of one status: the last one stands for it. */
function fromDeliveries(status: DeliveryStatus, typed: string, aimed: string): string {
  return `
    select e.*, '${status}' as status from (
      select distinct on (d.event_id) d.event_id, d.expires_on from ${SOURCES[status]}
        and d.environment_id = $1 and d.event_id < $2 and d.event_id >= $3 and not d.superseded ${aimed}
      order by d.event_id desc
    ) c cross join lateral (
      select ${COLUMNS} from events e
      where e.environment_id = $1 and e.id = c.event_id and e.expires_on = c.expires_on ${typed}
        and ${STATUS} = '${status}'
      offset 0
    ) e
    order by c.event_id desc limit $4`;
}

const FIND: Statement = {
  name: 'events_find',
  text: `
    select ${COLUMNS}, ${STATUS} as status, coalesce(e.headers, m.headers) as headers, coalesce(e.payload, m.payload) as payload, e.body,
           e.payload_bytes as "payloadBytes", m.application_id as "applicationId", coalesce(e.erased_at, m.erased_at) as "erasedAt"
    from events e
    left join messages m on m.environment_id = e.environment_id and m.id = e.message_id and m.expires_on = e.expires_on
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
  constructor(private readonly database: Database) {}

  list(tenant: Tenant, filter: EventFilter, limit: number): Promise<EventRow[]> {
    return this.database.read(listStatement(filter), [
      tenant.environmentId,
      filter.beforeId,
      filter.fromId,
      limit,
      filter.eventType ?? null,
      filter.targetId ?? filter.endpointId ?? null,
      filter.messageId ?? null,
    ]);
  }

  /** Served by events_pkey, one look-up in each partition. */
  async find(tenant: Tenant, id: Id): Promise<(EventRow & EventContent) | null> {
    const rows = await this.database.read<EventRow & EventContent>(FIND, [tenant.environmentId, id]);
    return rows[0] ?? null;
  }

  deliveries(tenant: Tenant, event: EventRow): Promise<DeliveryRow[]> {
    return this.database.read(DELIVERIES, [tenant.environmentId, event.id, event.expiresOn]);
  }

  attempts(tenant: Tenant, event: EventRow): Promise<(AttemptRow & { ordinal: number })[]> {
    return this.database.read(ATTEMPTS, [tenant.environmentId, event.id, event.expiresOn]);
  }
}
