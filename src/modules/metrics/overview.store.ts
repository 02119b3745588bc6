import { Injectable } from '@nestjs/common';
import { Database, type Statement } from '#kernel/database/database.js';
import type { Id } from '#kernel/ids.js';
import type { NamedTarget } from '#modules/names/resource-names.store.js';
import type { Counts } from './rollups.store.js';
import type { MetricsWindow } from './windows.js';

/** Maximum number of open deliveries to count. A larger number is reported as "at least". */
const OPEN_MAX = 10_000;

export interface FailingTarget extends Counts, NamedTarget {}

export interface OpenDeliveries {
  count: number;
  isCapped: boolean;
  /**
   * Time at which the oldest unclaimed due delivery became due. Null if there is none. Always null for an application.
   */
  oldestDueAt: Date | null;
}

/** Number of due deliveries to read, oldest first across all environments, to find the environment's oldest one. */
const DUE_MAX = 1_000;

/**
 * Counts the environment's open deliveries up to the limit (due_deliveries_pkey). Finds its oldest due delivery among
 * the oldest of all environments (due_deliveries_due_at_idx).
 */
const OPEN: Statement = {
  name: 'overview_open',
  text: `
    select (select count(*)::int from (select 1 from due_deliveries where environment_id = $1 limit $2) open) as count,
           (select min(due_at) from (
             select environment_id, due_at from due_deliveries where claimed_by is null and not parked order by due_at
               limit $3
           ) oldest where environment_id = $1 and due_at <= now()) as "oldestDueAt"`,
};

/**
 * Counts open deliveries of an application. Uses application_endpoints_application_id_idx, and for each endpoint
 * due_deliveries_retries_idx and due_deliveries_parked_idx, up to the limit. A delivery that was attempted before and
 * now waits for its target (parked) is in both indexes, but counted once.
 */
const OPEN_OF_APPLICATION: Statement = {
  name: 'overview_open_of_application',
  text: `
    select count(*)::int as count from (
      select 1 from application_endpoints a cross join lateral (
        (select endpoint_id from due_deliveries d
         where d.environment_id = a.environment_id and d.target_id = a.destination_id and d.claimed_by is null
           and d.attempts > 0
           and d.endpoint_id is not distinct from nullif(a.id, a.destination_id) order by d.due_at limit $3)
        union all
        (select endpoint_id from due_deliveries d
         where d.environment_id = a.environment_id and d.target_id = a.destination_id and d.claimed_by is null
           and d.parked and d.attempts = 0
           and d.endpoint_id is not distinct from nullif(a.id, a.destination_id) order by d.due_at limit $3)
      ) waiting where a.environment_id = $1 and a.application_id = $2 limit $3
    ) open`,
};

/**
 * Selects the destinations with the most failures, including those that endpoints own (destinations_pkey). Reads only
 * rollups with failures (rollups_failing_idx). Reads successes only for the selected destinations (rollups_pkey).
 */
const FAILING: Statement = {
  name: 'overview_failing_targets',
  text: `
    with failing as (
      select key_id, sum(failed + dlq) as ended, sum(failed + dlq + retried) as failures from rollups
      where environment_id = $1 and resolution = $2 and start >= to_timestamp($3::float8 / 1000) and is_failing
        group by key_id
    ), worst as (
      select d.id, d.name, d.owner_id, f.ended, f.failures from failing f join destinations d on d.environment_id = $1
        and d.id = f.key_id
      order by f.ended desc, f.failures desc, d.id desc limit $4
    )
    select w.id, w.name, w.owner_id as "ownerId", r.* from worst w cross join lateral (
      select sum(received)::float8 as received, sum(delivered)::float8 as delivered, sum(failed)::float8 as failed,
        sum(retried)::float8 as retried,
             sum(dlq)::float8 as dlq, sum(attempts)::float8 as attempts
      from rollups where environment_id = $1 and key_id = w.id and resolution = $2
        and start >= to_timestamp($3::float8 / 1000)
    ) r order by w.ended desc, w.failures desc, w.id desc`,
};

@Injectable()
export class OverviewStore {
  constructor(private readonly database: Database) {}

  /**
   * Counts deliveries that wait for endpoints of an application. If `applicationId` is null, counts all open deliveries
   * of the environment.
   */
  async open(environmentId: number, applicationId: Id | null): Promise<OpenDeliveries> {
    const [row] =
      applicationId === null
        ? await this.database.readPrepared<{ count: number; oldestDueAt: Date | null }>(OPEN, [
            environmentId,
            OPEN_MAX,
            DUE_MAX,
          ])
        : await this.database.readPrepared<{ count: number; oldestDueAt?: Date | null }>(OPEN_OF_APPLICATION, [
            environmentId,
            applicationId,
            OPEN_MAX,
          ]);
    const count = row?.count ?? 0;
    return { count, isCapped: count >= OPEN_MAX, oldestDueAt: row?.oldestDueAt ?? null };
  }

  failing(environmentId: number, window: MetricsWindow, sinceMs: number, limit: number): Promise<FailingTarget[]> {
    return this.database.readPrepared(FAILING, [environmentId, window, sinceMs, limit]);
  }
}
