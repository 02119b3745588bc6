interface Runner {
  query: (sql: string, parameters?: unknown[]) => Promise<unknown>;
}

/** Finds a partition that does not have its part of the index yet. */
const NEXT_PARTITION = `
  select c.relname as name from pg_inherits i join pg_class c on c.oid = i.inhrelid
  where i.inhparent = $1::regclass and not exists (
    select from pg_index x join pg_inherits part on part.inhrelid = x.indexrelid
    where x.indrelid = c.oid and part.inhparent = $2::regclass)
  order by c.relname limit 1`;

/**
 * Creates an index on a partitioned table, one partition at a time. Writes wait only for the partition that is being
 * indexed. Reads never wait.
 *
 * For migrations without a transaction, because every statement commits on its own. After an interruption, the next run
 * continues with the remaining partitions.
 */
export async function createPartitionIndex(
  runner: Runner,
  { table, name, definition }: { table: string; name: string; definition: string },
): Promise<void> {
  // `on only` does not index existing partitions. Partitions that are attached later are indexed automatically.
  await runner.query(`create index if not exists ${name} on only ${table} ${definition}`);
  for (;;) {
    const [partition] = (await runner.query(NEXT_PARTITION, [table, name])) as { name: string }[];
    if (partition === undefined) return;
    const part = name.replace(table, partition.name);
    await runner.query(`create index if not exists ${part} on ${partition.name} ${definition}`);
    // The index becomes valid when its last part is attached.
    await runner.query(`alter index ${name} attach partition ${part}`);
  }
}
