import { EPOCH } from '#kernel/database/cluster-epochs.js';

/**
 * Fragments of the ledger's statements that feed metrics and pull consumers: both are written by the commit that they
 * tell of, so neither can miss it or tell of one that never was.
 */

/** Puts the rows of `source` where their targets' consumers fetch them, in the order of this transaction. */
export const pullItems = (source: string): string => `
  insert into pull_items (environment_id, target_id, epoch, xid, event_id, ordinal, expires_on, endpoint_id, replayed)
  select environment_id, target_id, ${EPOCH}, pg_current_xact_id()::text::bigint, event_id, ordinal, expires_on, endpoint_id, replayed
  from ${source}`;

/** What an entry of a part says, as bits; one with a duration was an attempt besides. */
export const RECEIVED = 1;
export const DELIVERED = 2;
const FAILED = 4;
const RETRIED = 8;
const DLQ = 16;
/** What another entry of the same commit says for the whole environment: an endpoint received it, or counts its delivery. */
export const COUNTED_ELSEWHERE = 32;

/**
 * What happened, for the metrics: one row per environment and commit, with an entry for each of the rows of (environment_id,
 * key_id, other_id, at, what, ms). Either id may be null; without a time it happened now.
 */
export const metricIncrements = (rows: string): string => `
  insert into rollup_parts (environment_id, key_ids, other_ids, ats, whats, durations_ms)
  select environment_id, array_agg(key_id), array_agg(other_id), array_agg(at), array_agg(what), array_agg(ms)
  from (${rows}) part group by environment_id`;

/** A row of what was received for one key and perhaps another one. */
export const receivedIncrement = (keyId: string, otherId: string, what: string): string =>
  `environment_id, ${keyId} as key_id, ${otherId}::uuid as other_id, null::timestamptz as at, (${what})::smallint as what, null::int as ms`;

/** `what` of a result in columns (status, duration_ms); one without an attempt was no retry. */
export const SETTLED = `
  (case status when 'delivered' then ${DELIVERED} when 'failed' then ${FAILED} when 'dlq' then ${DLQ}
   when 'retrying' then case when duration_ms is null then 0 else ${RETRIED} end end)::smallint`;

/** A row of what failed without an attempt. */
export const FAILED_INCREMENT = `environment_id, target_id as key_id, endpoint_id as other_id, null::timestamptz as at, ${FAILED}::smallint as what, null::int as ms`;
