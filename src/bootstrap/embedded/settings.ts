/**
 * Returns the server settings that differ from PostgreSQL's defaults. They suit many small commits, and tables whose
 * rows are updated a few times. The durability settings (fsync, full_page_writes, synchronous_commit) are always on.
 *
 * wal_compression stays off: the embedded builds have no lz4, and pglz costs more than it saves.
 */
export function serverSettings(overrides: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  return {
    listen_addresses: '127.0.0.1',
    unix_socket_directories: '',
    logging_collector: 'off',
    timezone: 'UTC',
    // Small, because only the rows of the last few seconds are hot. The operating system caches the other pages, and
    // can release that memory. Doubling this value makes deliveries no cheaper (ADR 29).
    shared_buffers: '32MB',
    max_connections: '200',
    // Saves memory: at its start, the server initializes 3 MiB for the locks of serializable transactions, which
    // Posthorn does not use.
    max_pred_locks_per_transaction: '10',
    // Saves memory, because the server allocates memory for each concurrent read. The default would be 29. 16 is also
    // the default of `effective_io_concurrency`, the maximum for one connection.
    io_max_concurrency: '16',
    synchronous_commit: 'on',
    max_wal_size: '4GB',
    checkpoint_timeout: '15min',
    jit: 'off',
    random_page_cost: '1.1',
    autovacuum_naptime: '15s',
    // Vacuums a hot table when 5 % of its rows are dead instead of 20 %, and with short pauses.
    autovacuum_vacuum_scale_factor: '0.05',
    autovacuum_analyze_scale_factor: '0.05',
    autovacuum_vacuum_cost_delay: '1ms',
    ...overrides,
  };
}
