/**
 * Transactions of this database below it have ended, whatever came of them; as SQL. `pg_snapshot_xmin` counts those of every database of the
 * server, and a neighbour's long one is none of ours: of those that run, the ones that are known to be of another database are passed over.
 * One that ends while it is looked up is taken for ours, so that the answer may be lower than one of before: what was settled once stays so,
 * and whoever was there does not go back. For a statement that is a transaction by itself: then the snapshot is older than the look at who
 * runs, and a process that takes over the place of an ended one cannot be mistaken for it.
 */
export const TRANSACTION_HORIZON = `(
  select coalesce(min(x::text::bigint), pg_snapshot_xmax(pg_current_snapshot())::text::bigint)
  from pg_snapshot_xip(pg_current_snapshot()) x
  where x::xid not in (
    select backend_xid from pg_stat_activity where datname <> current_database() and backend_xid is not null
    union all select transaction from pg_prepared_xacts where database <> current_database()))`;

/** No transaction of this server that has ended is at or above it; never lower than it was, unless the server was set back. */
export const NEXT_TRANSACTION = 'pg_snapshot_xmax(pg_current_snapshot())::text::bigint';
