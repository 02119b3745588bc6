/**
 * Returns the server settings that differ from PostgreSQL's defaults. They suit many small commits and hot tables whose
 * rows change a few times. The settings for durability (fsync, full_page_writes, synchronous_commit) are on and cannot
 * be turned off.
 *
 * wal_compression stays off: the embedded builds have no lz4, and pglz costs more than it saves.
 */
export function serverSettings(overrides: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  return {
    listen_addresses: '127.0.0.1',
    unix_socket_directories: '',
    logging_collector: 'off',
    timezone: 'UTC',
    // The buffers fill up within half a minute of work and stay full, although only the rows of the last few seconds
    // are hot. Other pages are in the operating system's cache, which shrinks when a process needs the memory. Doubling
    // this value makes no delivery cheaper (ADR 29).
    shared_buffers: '32MB',
    max_connections: '200',
    // Posthorn uses no serializable transactions. The server initializes the memory for their locks at its start: 3
    // MiB.
    max_pred_locks_per_transaction: '10',
    // Equals `effective_io_concurrency`, the number of reads ahead per connection. PostgreSQL's default here is 29. The
    // server initializes the memory for this number of reads at its start.
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
