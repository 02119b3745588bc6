/**
 * SQL condition: `d`, a row of due_deliveries, is the delivery that `k` identifies. Forces one lookup in
 * due_deliveries_pkey for each row of `k`.
 *
 * The table is a queue, and autovacuum may find it empty on a quiet day. For an empty table, a full index scan costs
 * the same as a lookup, so a connection may cache a plan that scans the whole index. With 50,000 waiting deliveries,
 * such a plan reads 50,000 rows for every group of results.
 *
 * PostgreSQL scans a complete index only if its order could serve a merge join. `= any (array[…])` provides no order,
 * so the lookup is the only option (PostgreSQL's `pathkeys_useful_for_merging`; `test/architecture/plans-of-a-queue`).
 */
export const isOpen = (k: string): string => `${isOpenEvent(k)} and d.ordinal = ${k}.ordinal`;

/** Like `isOpen`, for all open deliveries of the event that `k` names. */
export const isOpenEvent = (k: string): string =>
  `d.environment_id = any (array[${k}.environment_id]) and d.event_id = ${k}.event_id`;
