import { Injectable } from '@nestjs/common';
import { BUCKET_FLOORS_MS, type Histogram } from '#engine/histogram.js';
import { Database, type Statement } from '#kernel/database/database.js';
import { intArray } from '#kernel/database/pg-array.js';
import type { Id } from '#kernel/ids.js';
import type { Tenant } from '#kernel/tenant.js';
import type { MetricsWindow } from './windows.js';

export type Counts = Record<'received' | 'delivered' | 'failed' | 'retried' | 'dlq' | 'attempts', number>;

/** Counts of one endpoint, destination or application, or of the whole environment, in one window. */
export interface Rollup extends Counts {
  startMs: number;
  /** Histogram of attempt durations. */
  histogram: Histogram;
}

const SUMS =
  'sum(received) as received, sum(delivered) as delivered, sum(failed) as failed, sum(retried) as retried, sum(dlq) as dlq, sum(n) as n';
/**
 * Flag of an increment that must not be added to the environment's sums, because another increment of the same commit
 * already counts the event or delivery there. Must equal `COUNTED_ELSEWHERE` in modules/ledger/metric-increments.ts.
 */
const COUNTED_ELSEWHERE = 32;
const COUNTS = `
  what & 1 as received, (what >> 1) & 1 as delivered, (what >> 2) & 1 as failed, (what >> 3) & 1 as retried, (what >> 4) & 1 as dlq`;
const WINDOW = 'environment_id, key_id, resolution, start';

/**
 * Key of the rollups of the whole environment, which every fold updates. It sorts last, so a fold locks them last and
 * holds the locks only briefly.
 */
export const WHOLE: Id = 'ffffffff-ffff-ffff-ffff-ffffffffffff';

/**
 * A fold pauses after these numbers of entries, sums and rollups, about every 4 ms. Without pauses, it would occupy a
 * CPU core for longer than it takes to accept an event.
 *
 * A fold is nevertheless a single statement, because several smaller ones would update the same rollups repeatedly.
 */
const REST_AFTER = { entries: 1_000, sums: 400, rollups: 100 };
const REST_SECONDS = 0.005;
const RESTED = `pg_sleep(${REST_SECONDS}) is not null`;

/** SQL for `gap`, the number of empty histogram buckets directly before a bucket. Bucket numbers start at 1. */
const GAP = `bucket - 1 - coalesce(lag(bucket) over (partition by environment_id, key_id, resolution, date_trunc(unit, minute, 'UTC') order by bucket), 0)`;

/**
 * Moves the oldest increments (rollup_parts_pkey) into the rollups (rollups_pkey). This is a single statement, so that
 * an increment is in exactly one of the two tables even after a crash. Skips increments that concurrent folds have
 * locked. Writes rollups in the order of their keys, so that concurrent folds wait for each other instead of
 * deadlocking.
 *
 * Also adds each count to the whole environment and, for an application's endpoint, to the application
 * (application_endpoints_pkey). Deliveries therefore need not write these sums. A count can belong to two resources,
 * for example an endpoint and its destination. It is added to the environment only once, through `key_id`, which is
 * null for an ad-hoc URL.
 *
 * Also records dead letters for system events, because a fold counts each dead letter exactly once and delays no
 * delivery. Their owner is looked up when the event is sent (modules/system-events/waiting-signals.ts).
 *
 * The previous release wrote rows that contain the sums of one endpoint or destination. A fold adds them, too.
 */
const FOLD: Statement = {
  name: 'rollups_fold',
  text: `
    with parts as (
      delete from rollup_parts
      where id = any (array(
        select id from rollup_parts
        where (select added_at <= now() - $3 * interval '1 millisecond' from rollup_parts order by id limit 1)
        order by id limit $1 for update skip locked
      )) returning *
    ), entries as (
      select environment_id, added_at, e.* from (
        select * from parts where id % greatest(1, ${REST_AFTER.entries} / greatest(1, cardinality(whats))) <> 0
          or ${RESTED}
      ) p, unnest(key_ids, other_ids, ats, whats, durations_ms) e(key_id, other_id, at, what, ms)
    ), samples as (
      select environment_id, key_id, is_whole, minute, ${COUNTS}, bucket, (bucket is not null)::int as n, added_at
      from (
        select environment_id, k.key_id, k.is_first and what & ${COUNTED_ELSEWHERE} = 0 as is_whole,
               date_trunc('minute', coalesce(at, added_at), 'UTC') as minute, what, added_at,
               case when ms is not null then width_bucket(greatest(ms, 0), $2::int[]) end as bucket
        from entries, lateral (values (entries.key_id, true), (entries.other_id, false)) k(key_id, is_first)
          where k.key_id is not null or k.is_first
      ) e
      union all
      select environment_id, key_id, false, minute, received, delivered, failed, retried, dlq, null, 0, added_at
        from parts where key_id is not null
      union all
      select environment_id, key_id, false, minute, 0, 0, 0, 0, 0, width_bucket(greatest(ms, 0), $2::int[]), 1,
        added_at from parts, unnest(latencies_ms) ms
    ), of_keys as (
      select environment_id, key_id, is_whole, minute, bucket, ${SUMS}, row_number() over () as place from samples
        group by environment_id, key_id, is_whole, minute, bucket
    ), minutes as (
      select environment_id, key_id, minute, bucket, received, delivered, failed, retried, dlq, n from of_keys
        where key_id is not null and (place % ${REST_AFTER.sums} <> 0 or ${RESTED})
      union all
      select environment_id, '${WHOLE}', minute, bucket, received, delivered, failed, retried, dlq, n from of_keys
        where is_whole
      union all
      select o.environment_id, a.application_id, o.minute, o.bucket, o.received, o.delivered, o.failed, o.retried,
        o.dlq, o.n
      from of_keys o join application_endpoints a on a.environment_id = o.environment_id and a.id = o.key_id
    ), windows as (
      select environment_id, key_id, resolution, date_trunc(unit, minute, 'UTC') as start, bucket, ${SUMS},
        ${GAP} as gap
      from minutes cross join (values ('1m', 'minute'), ('1h', 'hour'), ('1d', 'day')) r(resolution, unit)
      group by ${WINDOW}, bucket
    ), folded as (
      insert into rollups as r (${WINDOW}, received, delivered, failed, retried, dlq, attempts, is_failing, histogram)
      select ${WINDOW}, received, delivered, failed, retried, dlq, n, failed + retried + dlq > 0, histogram
      from (
        select ${WINDOW}, ${SUMS}, row_number() over (order by ${WINDOW}) as place,
               ('{' || coalesce(string_agg(repeat('0,', gap) || n, ','
                 order by bucket) filter (where bucket is not null), '') || '}')::int[] as histogram
        from windows group by ${WINDOW}
      ) w where place % ${REST_AFTER.rollups} <> 0 or ${RESTED} order by ${WINDOW}
      on conflict (${WINDOW}) do update set
        received = r.received + excluded.received, delivered = r.delivered + excluded.delivered,
          failed = r.failed + excluded.failed,
        retried = r.retried + excluded.retried, dlq = r.dlq + excluded.dlq, attempts = r.attempts + excluded.attempts,
          is_failing = r.is_failing or excluded.is_failing,
        histogram = array(
          select least(coalesce(old, 0)::bigint + coalesce(new, 0), 2147483647)::int
          from unnest(r.histogram, excluded.histogram) with ordinality as h(old, new, bucket) order by bucket)
    ), noted as (
      insert into system_signals (environment_id, type, subject, count, first_at, last_at)
      select environment_id, 'event.dead_lettered', key_id, sum(dlq), min(added_at), max(added_at)
      from samples where dlq > 0 and key_id is not null group by environment_id, key_id
    )
    select count(*)::int as increments from parts`,
};

/** Query for the poller. Returns 0 (milliseconds) if an increment waits to be folded. Uses rollup_parts_pkey. */
export const PARTS_IN_MS = 'select 0 from rollup_parts order by id limit 1';

/** Deletes the oldest rollups first, by rollups_start_idx. Uses `SKIP LOCKED`, so it does not wait for a fold. */
const DELETE_BEFORE: Statement = {
  name: 'rollups_delete_before',
  text: `
    with gone as (
      delete from rollups where ctid = any (array(
        select ctid from rollups where resolution = $1 and start < to_timestamp($2::float8 / 1000)
        order by start limit $3 for update skip locked
      )) returning 1
    )
    select count(*)::int as rollups from gone`,
};

/** Uses rollups_pkey. */
const FIND: Statement = {
  name: 'rollups_find',
  text: `
    select extract(epoch from start)::float8 * 1000 as "startMs", received::float8, delivered::float8, failed::float8,
           retried::float8, dlq::float8, attempts::float8, histogram
    from rollups
    where environment_id = $1 and key_id = $2 and resolution = $3
      and start between to_timestamp($4::float8 / 1000) and to_timestamp($5::float8 / 1000)`,
};

/** Adds up the rollups of a range. Uses rollups_pkey. Always returns one row. */
const SUM: Statement = {
  name: 'rollups_sum',
  text: `
    select coalesce(sum(received), 0)::float8 as received, coalesce(sum(delivered), 0)::float8 as delivered,
           coalesce(sum(failed), 0)::float8 as failed, coalesce(sum(retried), 0)::float8 as retried,
             coalesce(sum(dlq), 0)::float8 as dlq,
           coalesce(sum(attempts), 0)::float8 as attempts
    from rollups
    where environment_id = $1 and key_id = $2 and resolution = $3
      and start between to_timestamp($4::float8 / 1000) and to_timestamp($5::float8 / 1000)`,
};

/** Reads the first entry of the index rollup_parts_pkey. */
const OLDEST_PART: Statement = {
  name: 'rollups_oldest_part',
  text: `
    select coalesce((
      select extract(epoch from clock_timestamp() - added_at) from rollup_parts order by id limit 1
    ), 0)::float8 as age_seconds`,
};

@Injectable()
export class RollupsStore {
  private readonly floors = intArray(BUCKET_FLOORS_MS);

  constructor(private readonly database: Database) {}

  /**
   * Folds increments if the oldest one is at least `ageMs` old. Returns their number. Uses separate connections, so
   * that new events do not wait.
   */
  async fold(limit: number, ageMs = 0): Promise<number> {
    const [row] = await this.database.query<{ increments: number }>(FOLD, [limit, this.floors, ageMs]);
    return row?.increments ?? 0;
  }

  /** Deletes up to `limit` old rollups of a window length. Returns the number of deleted rollups. */
  async deleteBefore(window: MetricsWindow, timeMs: number, limit: number): Promise<number> {
    const [row] = await this.database.query<{ rollups: number }>(DELETE_BEFORE, [window, timeMs, limit]);
    return row?.rollups ?? 0;
  }

  /** Returns the windows with activity from `firstMs` to `lastMs`, both inclusive, in any order. */
  find(
    tenant: Tenant,
    keyId: Id,
    window: MetricsWindow,
    { firstMs, lastMs }: { firstMs: number; lastMs: number },
  ): Promise<Rollup[]> {
    return this.database.readPrepared(FIND, [tenant.environmentId, keyId, window, firstMs, lastMs]);
  }

  async sum(
    tenant: Tenant,
    keyId: Id,
    window: MetricsWindow,
    { firstMs, lastMs }: { firstMs: number; lastMs: number },
  ): Promise<Counts> {
    const [counts] = await this.database.readPrepared<Counts>(SUM, [
      tenant.environmentId,
      keyId,
      window,
      firstMs,
      lastMs,
    ]);
    return counts ?? { received: 0, delivered: 0, failed: 0, retried: 0, dlq: 0, attempts: 0 };
  }

  /** Returns the age of the oldest increment that is not folded, or 0 if there is none. */
  async oldestPartAgeSeconds(): Promise<number> {
    const [row] = await this.database.query<{ age_seconds: number }>(OLDEST_PART);
    return row?.age_seconds ?? 0;
  }
}
