/**
 * The server settings that differ from PostgreSQL's own, chosen for many small commits and hot
 * tables whose rows change a few times. What makes it durable (fsync, full_page_writes,
 * synchronous_commit) is on and stays on.
 *
 * wal_compression stays off: the embedded builds have no lz4, and pglz costs more than it saves.
 */
export function serverSettings(overrides: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  return {
    listen_addresses: '127.0.0.1',
    unix_socket_directories: '',
    logging_collector: 'off',
    timezone: 'UTC',
    // They fill and stay so within half a minute of work, while what is hot are the rows of a few seconds. What does not fit is in the
    // cache of the system, which gives it back when somebody needs the memory. Twice as many make no delivery cheaper (ADR 29).
    shared_buffers: '32MB',
    max_connections: '200',
    // Nobody here asks for serializable transactions, and the room for their locks is written at the start: 3 MiB.
    max_pred_locks_per_transaction: '10',
    // As many as `effective_io_concurrency` lets a connection read ahead. PostgreSQL's own choice here is 29, and all of it is written at the start.
    io_max_concurrency: '16',
    synchronous_commit: 'on',
    max_wal_size: '4GB',
    checkpoint_timeout: '15min',
    jit: 'off',
    random_page_cost: '1.1',
    autovacuum_naptime: '15s',
    // Hot tables are cleaned after 5 % of dead rows instead of 20 %, and without long naps in between.
    autovacuum_vacuum_scale_factor: '0.05',
    autovacuum_analyze_scale_factor: '0.05',
    autovacuum_vacuum_cost_delay: '1ms',
    ...overrides,
  };
}
