import { EPOCH } from '#kernel/database/cluster-epochs.js';

/**
 * SQL for metrics and for items that consumers pull. Both are written in the commit of their events, so that they
 * always agree with the events.
 */

/**
 * SQL that makes the rows of `source` available to pull. Consumers get the items in the order of the transactions that
 * inserted them.
 */
export const pullItems = (source: string): string => `
  insert into pull_items (environment_id, target_id, epoch, xid, event_id, ordinal, expires_on, endpoint_id, replayed)
  select environment_id, target_id, ${EPOCH}, pg_current_xact_id()::text::bigint, event_id, ordinal, expires_on,
    endpoint_id, replayed
  from ${source}`;

/**
 * Bits of a metric entry: the counters that the entry increments. An entry with a duration also counts as an attempt.
 */
export const RECEIVED = 1;
export const DELIVERED = 2;
const FAILED = 4;
const RETRIED = 8;
const DLQ = 16;
/**
 * Flag of a metric entry that must not be added to the environment's sums, because another entry of the same commit
 * already counts the event or delivery there.
 */
export const COUNTED_ELSEWHERE = 32;

/**
 * SQL that stores metrics in `rollup_parts`: one row per environment, with one array element per row of `rows`. The
 * columns of `rows` are environment_id, key_id, other_id, at, what and ms. `key_id` or `other_id` may be null. A null
 * `at` means the current time.
 */
export const metricIncrements = (rows: string): string => `
  insert into rollup_parts (environment_id, key_ids, other_ids, ats, whats, durations_ms)
  select environment_id, array_agg(key_id), array_agg(other_id), array_agg(at), array_agg(what), array_agg(ms)
  from (${rows}) part group by environment_id`;

/**
 * SQL columns of the metric entry for a received event. The event is counted for the target or endpoint `keyId` and,
 * unless null, for `otherId`.
 */
export const receivedIncrement = (keyId: string, otherId: string, what: string): string =>
  `environment_id, ${keyId} as key_id, ${otherId}::uuid as other_id, null::timestamptz as at, (${what})::smallint as what, null::int as ms`;

/**
 * SQL expression: the counter bits of the metric entry for a result (status, duration_ms). A `retrying` result without
 * an attempt increments no counter.
 */
export const SETTLED = `
  (case status when 'delivered' then ${DELIVERED} when 'failed' then ${FAILED} when 'dlq' then ${DLQ}
   when 'retrying' then case when duration_ms is null then 0 else ${RETRIED} end end)::smallint`;

export const FAILED_INCREMENT = `environment_id, target_id as key_id, endpoint_id as other_id, null::timestamptz as at, ${FAILED}::smallint as what, null::int as ms`;
