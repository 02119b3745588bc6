/**
 * Fragments of the ledger's statements that feed metrics and pull consumers: both are written by the commit that they
 * tell of, so neither can miss it or tell of one that never was.
 */

/** The newest; migrations see to it that there is one, and that no older one is being written to when it begins. */
const EPOCH = '(select max(epoch) from cluster_epochs)';

/** Puts the rows of `source` where their targets' consumers fetch them, in the order of this transaction. */
export const pullItems = (source: string): string => `
  insert into pull_items (environment_id, target_id, epoch, xid, event_id, ordinal, expires_on, endpoint_id, replayed)
  select environment_id, target_id, ${EPOCH}, pg_current_xact_id()::text::bigint, event_id, ordinal, expires_on, endpoint_id, replayed
  from ${source}`;

/** Sums of what was received, and of what is delivered with it because it is pulled, from rows of (environment_id, key_id, received, delivered). */
export const receivedParts = (rows: string): string => `
  insert into rollup_parts (environment_id, key_id, minute, received, delivered, failed, retried, dlq, latencies_ms)
  select environment_id, key_id, date_trunc('minute', now()), sum(received), sum(delivered), 0, 0, 0, '{}'
  from (${rows}) received group by environment_id, key_id`;

/** Sums of results, from rows of (environment_id, key_id, started_at, status, duration_ms); a result without attempt has no duration. */
export const settledParts = (rows: string): string => `
  insert into rollup_parts (environment_id, key_id, minute, received, delivered, failed, retried, dlq, latencies_ms)
  select environment_id, key_id, date_trunc('minute', coalesce(started_at, now())), 0, count(*) filter (where status = 'delivered'),
         count(*) filter (where status = 'failed'), count(*) filter (where status = 'retrying' and duration_ms is not null), count(*) filter (where status = 'dlq'),
         coalesce(array_agg(duration_ms) filter (where duration_ms is not null), '{}')
  from (${rows}) settled group by 1, 2, 3`;
