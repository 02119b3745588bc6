import { Injectable } from '@nestjs/common';
import { Database, type Statement } from '#kernel/database.js';
import type { Id } from '#kernel/ids.js';
import type { Tenant } from '#kernel/tenant.js';
import type { AttemptRow } from './contract.js';

export type EventStatus = 'delivered' | 'failed' | 'retrying' | 'dlq';

/** An event without its payload, and its status as its deliveries make it. */
export interface EventRow {
  id: Id;
  expiresOn: string;
  targetId: Id;
  url: string | null;
  direction: 'outbound';
  eventType: string;
  status: EventStatus;
}

/** What only the detail shows. */
export interface EventContent {
  headers: Record<string, string> | null;
  payload: string | null;
  payloadBytes: number;
}

/** One delivery of an event, open or settled. */
export interface DeliveryRow {
  ordinal: number;
  targetId: Id;
  status: EventStatus;
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
  targetId?: Id;
}

/**
 * An event's status is not stored: it is what its deliveries say (contract, section 4), so it can't disagree with
 * them and settling a delivery writes no event. Served by due_deliveries_pkey and deliveries_pkey.
 */
const STATUS = `
  case when exists (
    select from due_deliveries o
    where o.environment_id = e.environment_id and o.event_id = e.id and not o.superseded
  ) then 'retrying' else coalesce((
    select case when bool_or(s.status = 'dlq') then 'dlq' when bool_or(s.status = 'failed') then 'failed' else 'delivered' end
    from deliveries s
    where s.environment_id = e.environment_id and s.event_id = e.id and s.expires_on = e.expires_on and not s.superseded
    having count(*) > 0
  ), 'failed') end`;

const COLUMNS = `
  e.id, e.expires_on::text as "expiresOn", e.target_id as "targetId", e.url, e.direction, e.event_type as "eventType"`;

/** Where a list starts from: the smallest set that holds every event of the status, newest first. */
const SOURCES: Record<'any' | EventStatus, string> = {
  // events_pkey, or events_event_type_idx and events_target_id_idx with those filters
  any: 'events e where e.environment_id = $1 and e.id < $2 and e.id >= $3',
  delivered: 'events e where e.environment_id = $1 and e.id < $2 and e.id >= $3',
  // due_deliveries_pkey: open deliveries only
  retrying: `(
      select distinct on (event_id) event_id, expires_on from due_deliveries
      where environment_id = $1 and event_id < $2 and event_id >= $3 and not superseded order by event_id desc
    ) c join events e on e.environment_id = $1 and e.id = c.event_id and e.expires_on = c.expires_on where true`,
  // deliveries_status_idx
  dlq: settledSource('dlq'),
  failed: settledSource('failed'),
};

function settledSource(status: 'dlq' | 'failed'): string {
  return `(
      select event_id, expires_on from deliveries
      where environment_id = $1 and status = '${status}' and not superseded and event_id < $2 and event_id >= $3
      order by event_id desc
    ) c join events e on e.environment_id = $1 and e.id = c.event_id and e.expires_on = c.expires_on where true`;
}

/** The statement of a combination of filters; one name for each. */
export function listStatement(filter: Pick<EventFilter, 'status' | 'eventType' | 'targetId'>): Statement {
  const { status = 'any', eventType, targetId } = filter;
  const conditions = [
    eventType === undefined ? '' : 'and e.event_type = $5',
    targetId === undefined ? '' : 'and e.target_id = $6',
  ].join(' ');
  const order = status === 'any' || status === 'delivered' ? 'e.id' : 'c.event_id';
  const inner = `select ${COLUMNS}, ${STATUS} as status from ${SOURCES[status]} ${conditions} order by ${order} desc`;
  // The casts of $5 and $6 give them a type also where they are not used.
  const outer = status === 'any' ? `${inner} limit $4` : `select * from (${inner}) l where status = '${status}' limit $4`;
  return {
    name: `events_list_${status}_${eventType === undefined ? 0 : 1}${targetId === undefined ? 0 : 1}`,
    text: `with unused as (select $5::text, $6::uuid) ${outer}`,
  };
}

const FIND: Statement = {
  name: 'events_find',
  text: `
    select ${COLUMNS}, ${STATUS} as status, e.headers, e.payload, e.payload_bytes as "payloadBytes"
    from events e where e.environment_id = $1 and e.id = $2`,
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
    return this.database.query(listStatement(filter), [
      tenant.environmentId,
      filter.beforeId,
      filter.fromId,
      limit,
      filter.eventType ?? null,
      filter.targetId ?? null,
    ]);
  }

  /** Served by events_pkey, one look-up in each partition. */
  async find(tenant: Tenant, id: Id): Promise<(EventRow & EventContent) | null> {
    const rows = await this.database.query<EventRow & EventContent>(FIND, [tenant.environmentId, id]);
    return rows[0] ?? null;
  }

  deliveries(tenant: Tenant, event: EventRow): Promise<DeliveryRow[]> {
    return this.database.query(DELIVERIES, [tenant.environmentId, event.id, event.expiresOn]);
  }

  attempts(tenant: Tenant, event: EventRow): Promise<(AttemptRow & { ordinal: number })[]> {
    return this.database.query(ATTEMPTS, [tenant.environmentId, event.id, event.expiresOn]);
  }
}
