/**
 * SQL expression for a transaction id below which all transactions of this database have ended, committed or not.
 *
 * `pg_snapshot_xmin` also covers the other databases of the server, so a long transaction of another database would
 * keep it low. This expression ignores transactions that are known to belong to another database.
 *
 * A transaction of another database that ends during the query is not ignored. The result may then be lower than an
 * earlier result. This is harmless, because readers never move back.
 *
 * Use the expression in a single-statement transaction. The snapshot is then older than the list of running backends,
 * so a new backend is not mistaken for an ended one whose slot it reuses.
 */
export const TRANSACTION_HORIZON = `(
  select coalesce(min(x::text::bigint), pg_snapshot_xmax(pg_current_snapshot())::text::bigint)
  from pg_snapshot_xip(pg_current_snapshot()) x
  where x::xid not in (
    select backend_xid from pg_stat_activity where datname <> current_database() and backend_xid is not null
    union all select transaction from pg_prepared_xacts where database <> current_database()))`;

/** SQL for a transaction id above all ended transactions. Never decreases, unless the server was reset. */
export const NEXT_TRANSACTION = 'pg_snapshot_xmax(pg_current_snapshot())::text::bigint';
