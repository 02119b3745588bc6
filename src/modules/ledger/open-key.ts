/**
 * SQL condition: the row `d` of due_deliveries has the key in `k`. `= any (array[…])` forces one lookup in
 * due_deliveries_pkey for each row of `k`.
 *
 * Otherwise, the planner could choose a scan of the whole index. The table is a queue, and autovacuum may find it empty
 * when there is little traffic. For an empty table, a scan is estimated to cost the same as a lookup, and a connection
 * may cache the plan with the scan. With 50,000 waiting deliveries, such a plan reads 50,000 rows for every group of
 * results.
 *
 * PostgreSQL scans a complete index only if its order could serve a merge join (`pathkeys_useful_for_merging`). `= any
 * (array[…])` provides no order, so only the lookup remains. `test/architecture/plans-of-a-queue` checks this.
 */
export const isOpen = (k: string): string => `${isOpenEvent(k)} and d.ordinal = ${k}.ordinal`;

/** SQL condition: the row `d` of due_deliveries belongs to the event in `k`. Forces an index lookup (see `isOpen`). */
export const isOpenEvent = (k: string): string =>
  `d.environment_id = any (array[${k}.environment_id]) and d.event_id = ${k}.event_id`;
