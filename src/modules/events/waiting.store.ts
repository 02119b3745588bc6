import { Injectable } from '@nestjs/common';
import { Database, type Statement } from '#kernel/database/database.js';
import type { Id } from '#kernel/ids.js';
import { type WaitingDeliveries } from './waiting.contract.js';

/**
 * Maximum number of retries, and of parked deliveries, that are counted. Parked deliveries wait for a rate limit or an
 * open circuit. If this maximum is reached, the count is a lower bound.
 */
const SCANNED_MAX = 10_000;

/**
 * Counts waiting deliveries to a target. Reads due_deliveries_retries_idx and due_deliveries_parked_idx, earliest
 * first. A retry that waits for a rate limit or an open circuit is in both indexes.
 */
const WAITING: Statement = {
  name: 'waiting_of_target',
  text: `
    with retries as (
      select due_at, endpoint_id from due_deliveries
      where environment_id = $1 and target_id = $2 and claimed_by is null and attempts > 0 order by due_at limit $4
    ), parked as (
      select attempts, endpoint_id from due_deliveries
      where environment_id = $1 and target_id = $2 and claimed_by is null and parked order by due_at limit $4
    ), own as (
      select due_at from retries where endpoint_id is not distinct from $3::uuid
    )
    select ((select count(*) from own) + (select count(*) from parked where attempts = 0
      and endpoint_id is not distinct from $3::uuid))::int as count,
           greatest((select count(*) from retries), (select count(*) from parked)) >= $4 as "isCapped",
           (select min(due_at) from own) as "nextAttemptAt"`,
};

@Injectable()
export class WaitingStore {
  constructor(private readonly database: Database) {}

  /**
   * Counts the target's waiting deliveries that the endpoint routed to it. If `endpointId` is null, counts those that
   * were sent directly.
   */
  async count(environmentId: number, targetId: Id, endpointId: Id | null): Promise<WaitingDeliveries> {
    const rows = await this.database.readPrepared<WaitingDeliveries>(WAITING, [
      environmentId,
      targetId,
      endpointId,
      SCANNED_MAX,
    ]);
    return rows[0] ?? { count: 0, isCapped: false, nextAttemptAt: null };
  }
}
