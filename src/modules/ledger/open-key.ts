/**
 * That `d`, a row of due_deliveries, has the key that `k` names: by due_deliveries_pkey, a look-up for each row of `k`.
 *
 * The table is a queue, which autovacuum finds empty on any quiet day. A plan that was made then, and is kept by its
 * connection, walks the whole index for every statement instead, since one page costs what a look-up does; behind 50,000
 * waiting deliveries that is 50,000 rows for every group of results. An index is walked from end to end only where its
 * order could serve a merge, and `= any (array[…])` is no order: what is left is the look-up (PostgreSQL's
 * `pathkeys_useful_for_merging`; `test/architecture/plans-of-a-queue`).
 */
export const isOpen = (k: string): string => `${isOpenEvent(k)} and d.ordinal = ${k}.ordinal`;

/** The same of all open deliveries of the event that `k` names. */
export const isOpenEvent = (k: string): string =>
  `d.environment_id = any (array[${k}.environment_id]) and d.event_id = ${k}.event_id`;
