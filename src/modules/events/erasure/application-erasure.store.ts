import { Injectable } from '@nestjs/common';
import { Database, type Statement } from '#kernel/database/database.js';
import { dateArray, uuidArray } from '#kernel/database/pg-array.js';
import { type Id, idAfter } from '#kernel/ids.js';
import { FAN_OUT_MAX } from '#modules/ledger/accept.contract.js';
import type { ErasureRange } from '../erasure.contract.js';

export interface Placed {
  id: Id;
  /** Expiry day of the event's partition, as `YYYY-MM-DD`. */
  expiresOn: string;
}

const DAY_MS = 86_400_000;

/** Reads the index messages_application_id_idx in descending order. */
const PAGE: Statement = {
  name: 'application_erasure_page',
  text: `
    select id, expires_on::text as "expiresOn", fanout, erased_at is not null as "isErased" from messages
    where environment_id = $1 and application_id = $2 and id < $3 and id >= $4 order by id desc limit $5`,
};

/** Uses the index messages_application_id_idx. The limit bounds the cost of a large range. */
const COUNT: Statement = {
  name: 'application_erasure_count',
  text: `
    select count(*)::int as count from (
      select 1 from messages where environment_id = $1 and application_id = $2 and id < $3 and id >= $4 limit $5
    ) counted`,
};

/**
 * Finds the events of messages. The ids of a message's events follow the message's id, which limits the range to
 * search. Uses the index events_pkey of one partition.
 */
const EVENTS: Statement = {
  name: 'application_erasure_events',
  text: `
    select e.id, e.expires_on::text as "expiresOn"
    from unnest($2::uuid[], $3::uuid[], $4::date[]) m(id, last_id, expires_on) cross join lateral (
      select id, expires_on from events e
      where e.environment_id = $1 and e.id >= m.id and e.id <= m.last_id and e.expires_on = m.expires_on
        and e.message_id = m.id
    ) e`,
};

/** Erases messages, but keeps the names of their headers. Uses the index messages_pkey of one partition. */
const ERASE: Statement = {
  name: 'application_erasure_messages',
  text: `
    with erased as (
      update messages m set payload = null, channels = null, erased_at = now(), headers = case
        when headers is not null then
        coalesce((select jsonb_object_agg(name, '') from jsonb_object_keys(headers) name), '{}') end
      from unnest($2::uuid[], $3::date[]) p(id, expires_on)
      where m.environment_id = $1 and m.id = p.id and m.expires_on = p.expires_on and m.erased_at is null returning 1
    )
    select count(*)::int as count from erased`,
};

/** Uses the index attempts_pkey of one partition. */
const ERASE_EXCERPTS: Statement = {
  name: 'application_erasure_excerpts',
  text: `
    with erased as (
      update attempts a set response_excerpt = null, exchange = null from unnest($2::uuid[], $3::date[]) p(id,
        expires_on)
      where a.environment_id = $1 and a.event_id = p.id and a.expires_on = p.expires_on
        and (a.response_excerpt is not null or a.exchange is not null) returning 1
    )
    select count(*)::int as count from erased`,
};

/** Uses the index attempts_pkey of one partition. */
const COUNT_EXCERPTS: Statement = {
  name: 'application_erasure_count_excerpts',
  text: `
    select count(*)::int as count from unnest($2::uuid[], $3::date[]) p(id, expires_on) cross join lateral (
      select from attempts a
      where a.environment_id = $1 and a.event_id = p.id and a.expires_on = p.expires_on
        and (a.response_excerpt is not null or a.exchange is not null)
    ) a`,
};

/** Uses the index due_deliveries_pkey. */
const IS_OPEN: Statement = {
  name: 'application_erasure_is_open',
  text: 'select 1 from due_deliveries where environment_id = $1 and event_id = any ($2::uuid[]) limit 1',
};

/**
 * Reads all open deliveries of the environment from the index due_deliveries_pkey and filters them. The cost is
 * acceptable, because the statement rarely runs. For an endpoint with its own URL, `target_id` is the endpoint's id.
 */
const WAITING: Statement = {
  name: 'application_erasure_waiting',
  text: `
    select count(*)::int as count from due_deliveries
    where environment_id = $1 and coalesce(endpoint_id, target_id) = any ($2::uuid[]) and not superseded`,
};

@Injectable()
export class ApplicationErasureStore {
  constructor(private readonly database: Database) {}

  page(
    { environmentId, applicationId, beforeId, fromId }: ErasureRange,
    limit: number,
  ): Promise<(Placed & { fanout: number; isErased: boolean })[]> {
    return this.database.readPrepared(PAGE, [environmentId, applicationId, beforeId, fromId, limit]);
  }

  async count({ environmentId, applicationId, beforeId, fromId }: ErasureRange, max: number): Promise<number> {
    const [row] = await this.database.readPrepared<{ count: number }>(COUNT, [
      environmentId,
      applicationId,
      beforeId,
      fromId,
      max,
    ]);
    return row?.count ?? 0;
  }

  async waiting(environmentId: number, endpointIds: readonly Id[]): Promise<number> {
    const [row] = await this.database.readPrepared<{ count: number }>(WAITING, [environmentId, uuidArray(endpointIds)]);
    return row?.count ?? 0;
  }

  events(environmentId: number, messages: readonly Placed[]): Promise<Placed[]> {
    const lastIds = messages.map(({ id }) => idAfter(id, FAN_OUT_MAX));
    return this.database.queryPrepared(EVENTS, [environmentId, idsOf(messages), uuidArray(lastIds), daysOf(messages)]);
  }

  async erase(environmentId: number, messages: readonly Placed[]): Promise<number> {
    return this.counted(ERASE, environmentId, messages);
  }

  async eraseExcerpts(environmentId: number, events: readonly Placed[]): Promise<number> {
    return this.counted(ERASE_EXCERPTS, environmentId, events);
  }

  async countExcerpts(environmentId: number, events: readonly Placed[]): Promise<number> {
    return this.counted(COUNT_EXCERPTS, environmentId, events);
  }

  async isOpen(environmentId: number, events: readonly Placed[]): Promise<boolean> {
    return (await this.database.queryPrepared(IS_OPEN, [environmentId, idsOf(events)])).length > 0;
  }

  private async counted(statement: Statement, environmentId: number, rows: readonly Placed[]): Promise<number> {
    const [row] = await this.database.queryPrepared<{ count: number }>(statement, [
      environmentId,
      idsOf(rows),
      daysOf(rows),
    ]);
    return row?.count ?? 0;
  }
}

function idsOf(rows: readonly Placed[]): Buffer {
  return uuidArray(rows.map(({ id }) => id));
}

function daysOf(rows: readonly Placed[]): Buffer {
  return dateArray(rows.map(({ expiresOn }) => Date.parse(expiresOn) / DAY_MS));
}
