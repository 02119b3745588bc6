import { Injectable } from '@nestjs/common';
import { Database, type Statement } from '#kernel/database/database.js';
import { uuidArray } from '#kernel/database/pg-array.js';
import type { EventEntity } from '#modules/ledger/ledger.entities.js';
import { type SentRange, type SentRow } from './sent.contract.js';

/** Selects one page for each endpoint. Reads the index events_target_id_idx in descending order. */
const SENT = `
  unnest($2::uuid[]) t(endpoint_id) cross join lateral (
    select e.environment_id, e.id, e.expires_on, e.message_id, e.erased_at from events e
    where e.environment_id = $1 and e.target_id = t.endpoint_id and e.id < $3 and e.id >= $4 order by e.id desc limit $5
  ) e`;

/** Selects the newest rows of all endpoints' pages. Uses the index messages_pkey of one partition for each row. */
const PAGE: Statement = {
  name: 'sent_page',
  text: `
    with picked as (select t.endpoint_id, e.* from ${SENT} order by e.id desc limit $5)
    select p.id, p.expires_on::text as "expiresOn", p.endpoint_id as "endpointId",
           p.erased_at is not null or m.erased_at is not null as "isGone"
    from picked p
    left join messages m on m.environment_id = p.environment_id and m.id = p.message_id and m.expires_on = p.expires_on
    order by p.id desc`,
};

/** Uses the index events_target_id_idx. The limit bounds the cost of a large range. */
const COUNT: Statement = {
  name: 'sent_count',
  text: `select count(*)::int as count from (select 1 from ${SENT} limit $5) counted`,
};

@Injectable()
export class SentStore {
  constructor(private readonly database: Database) {}

  /** Returns a page of events, newest first. */
  page(range: SentRange, limit: number): Promise<SentRow[]> {
    return this.database.readPrepared<Pick<EventEntity, 'id' | 'expiresOn'> & Pick<SentRow, 'endpointId' | 'isGone'>>(
      PAGE,
      [...valuesOf(range), limit],
    );
  }

  async count(range: SentRange, max: number): Promise<number> {
    const [row] = await this.database.readPrepared<{ count: number }>(COUNT, [...valuesOf(range), max]);
    return row?.count ?? 0;
  }
}

function valuesOf({ environmentId, endpointIds, beforeId, fromId }: SentRange): unknown[] {
  return [environmentId, uuidArray(endpointIds), beforeId, fromId];
}
