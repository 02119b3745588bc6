import { Injectable } from '@nestjs/common';
import { Database, type Statement } from '#kernel/database/database.js';
import type { Id } from '#kernel/ids.js';

export interface FailingApplication {
  id: Id;
  uid: string | null;
  name: string;
  delivered: number;
  failed: number;
  dlq: number;
  retried: number;
  /** Ids of the endpoints with failures, worst first, at most ten. */
  endpointIds: Id[];
  failingEndpoints: number;
  oldestFailureAt: Date | null;
}

/**
 * Selects applications, worst first. Adds up the hourly rollups of each endpoint of the environment (rollups_pkey,
 * application_endpoints_pkey). For each returned endpoint with failures, reads minute rollups up to the first failure.
 */
const FAILING: Statement = {
  name: 'failing_applications',
  text: `
    with sums as (
      select ae.application_id, ae.id, r.* from application_endpoints ae cross join lateral (
        select sum(delivered) as delivered, sum(failed) as failed, sum(dlq) as dlq, sum(retried) as retried,
          sum(failed + dlq + retried) as failures
        from rollups where environment_id = ae.environment_id and key_id = ae.id and resolution = '1h'
          and start >= date_trunc('hour', $2::timestamptz, 'UTC')
      ) r where ae.environment_id = $1 and r.failures is not null
    ), worst as (
      select application_id, sum(delivered) as delivered, sum(failed) as failed, sum(dlq) as dlq,
        sum(retried) as retried, sum(failures) as failures,
             array_agg(id order by failures desc, id) filter (where failures > 0) as endpoint_ids
      from sums group by application_id having sum(failures) > 0 order by sum(failures) desc, application_id limit $3
    )
    select a.id, a.uid, a.name, w.delivered::float8, w.failed::float8, w.dlq::float8, w.retried::float8,
      w.endpoint_ids[1:10] as "endpointIds",
           cardinality(w.endpoint_ids) as "failingEndpoints", (
             select min(first.start) from unnest(w.endpoint_ids) e(id) cross join lateral (
               select start from rollups
               where environment_id = $1 and key_id = e.id and resolution = '1m' and start >= date_trunc('hour',
                 $2::timestamptz, 'UTC') and failed + dlq + retried > 0
               order by start limit 1
             ) first
           ) as "oldestFailureAt"
    from worst w join applications a on a.environment_id = $1 and a.id = w.application_id order by w.failures desc,
      a.id`,
};

@Injectable()
export class FailingApplicationsStore {
  constructor(private readonly database: Database) {}

  failing(environmentId: number, since: Date, limit: number): Promise<FailingApplication[]> {
    return this.database.readPrepared(FAILING, [environmentId, since.toISOString(), limit]);
  }
}
