import { Injectable } from '@nestjs/common';
import { Database, type Statement } from '#kernel/database/database.js';
import { uuidArray } from '#kernel/database/pg-array.js';
import type { Id } from '#kernel/ids.js';
import { isDropped } from './dropped.contract.js';
import type { DeliveryEntity } from './ledger.entities.js';
import { RedeliverStore } from './redeliver.store.js';
import { type FailedRange, type FailedRow } from './redelivery.contract.js';

const RANGE =
  'd.environment_id = $1 and d.target_id = t.target_id and d.event_id < $3 and d.event_id >= $4 and not d.superseded';

/**
 * Builds the part of a query that selects the newest deliveries with a status. Reads deliveries_target_id_idx in
 * descending order.
 */
const ofStatus = (status: 'failed' | 'dlq'): string => `
  (select d.environment_id, d.event_id, d.expires_on, d.target_id, d.endpoint_id, d.reason from deliveries d
   where ${RANGE} and d.status = '${status}' and coalesce($5::text, '${status}') = '${status}' order by d.event_id desc limit $6)`;

const FAILED = `unnest($2::uuid[]) t(target_id) cross join lateral (${ofStatus('failed')} union all ${ofStatus('dlq')}) failed`;

/** Selects the newest failed deliveries. Reads events_pkey and messages_pkey of one partition per selected row. */
const PAGE: Statement = {
  name: 'failed_page',
  text: `
    with picked as (
      select failed.* from ${FAILED} order by event_id desc limit $6
    )
    select p.event_id as "eventId", p.expires_on::text as "expiresOn", p.target_id as "targetId",
      p.endpoint_id as "endpointId",
           p.reason,
           e.id is null or e.erased_at is not null or m.erased_at is not null or ${isDropped('e')} as "isGone"
    from picked p
    left join events e on e.environment_id = p.environment_id and e.id = p.event_id and e.expires_on = p.expires_on
    left join messages m on m.environment_id = e.environment_id and m.id = e.message_id and m.expires_on = e.expires_on
    order by p.event_id desc`,
};

/** Uses the index deliveries_target_id_idx. The limit bounds the cost of a large range. */
const COUNT: Statement = {
  name: 'failed_count',
  text: `
    select count(*) filter (where $7::uuid is null or endpoint_id = $7)::int as count
    from (select failed.* from ${FAILED} limit $6) counted`,
};

@Injectable()
export class FailedStore {
  constructor(
    private readonly database: Database,
    private readonly redelivering: RedeliverStore,
  ) {}

  /** Returns failed deliveries, newest first. Blocks other replays of the environment until the transaction ends. */
  async page(range: FailedRange, limit: number): Promise<FailedRow[]> {
    await this.redelivering.standInLine(range.environmentId);
    return this.database.query<Pick<DeliveryEntity, keyof Omit<FailedRow, 'isGone'>> & Pick<FailedRow, 'isGone'>>(
      PAGE,
      [...valuesOf(range), limit],
    );
  }

  /** Counts the failed deliveries of one endpoint, or of all endpoints if `endpointId` is null, up to `max`. */
  async count(range: FailedRange, endpointId: Id | null, max: number): Promise<number> {
    const [row] = await this.database.readPrepared<{ count: number }>(COUNT, [...valuesOf(range), max, endpointId]);
    return row?.count ?? 0;
  }
}

function valuesOf({ environmentId, targetIds, beforeId, fromId, status }: FailedRange): unknown[] {
  return [environmentId, uuidArray(targetIds), beforeId, fromId, status];
}
