import type pg from 'pg';
import type { Database, Statement } from '../../src/kernel/database/database.js';

/** A statement as a store passes it to the database. */
export interface Recorded {
  pool: 'hot' | 'reads' | 'ordinary';
  statement: Statement;
  values: readonly unknown[];
  /** Statements that the store runs first in the same transaction. */
  before?: readonly Recorded[];
}

/** The execution of a statement by PostgreSQL. */
export interface Plan {
  /** Indexes that were used, by the names that migrations gave them. An index of a partition has its parent's name. */
  indexes: string[];
  /** Tables with many rows that were scanned sequentially. */
  scanned: string[];
  /** Pages touched, in memory or on disk. */
  pages: number;
}

/** Returns a database that returns no rows and records the statements that it gets. */
export function recorder(): { database: Database; recorded: Recorded[] } {
  const recorded: Recorded[] = [];
  const keep =
    (pool: Recorded['pool']) =>
    async (statement: Statement, values: readonly unknown[] = []) => {
      recorded.push({ pool, statement, values });
      return [];
    };
  const database = {
    queryPrepared: keep('hot'),
    readPrepared: keep('reads'),
    query: keep('ordinary'),
    transaction: (work: () => unknown) => work(),
    isAccompanied: () => false,
  };
  return { database: database as unknown as Database, recorded };
}

/** Number of rows below which a sequential scan is faster than an index, as in an empty partition or a small table. */
const SCANNED_ROWS_MIN = 1_000;

interface Node {
  'Node Type': string;
  'Index Name'?: string;
  'Relation Name'?: string;
  'Conflict Arbiter Indexes'?: string[];
  'Shared Hit Blocks'?: number;
  'Shared Read Blocks'?: number;
  'Actual Loops'?: number;
  'Actual Rows'?: number;
  'Rows Removed by Filter'?: number;
  Plans?: Node[];
}

/**
 * Runs a statement, rolls it back, and returns its plan. `mode` forces a generic plan or a custom plan for these
 * values.
 */
export async function explain(
  client: pg.PoolClient,
  { statement, values, before }: Recorded,
  mode?: 'generic' | 'custom',
): Promise<Plan> {
  const literals: string[] = [];
  for (const value of values) literals.push(await literalOf(client, value));
  await client.query('begin');
  try {
    if (mode) await client.query(`set local plan_cache_mode = force_${mode}_plan`);
    for (const each of before ?? []) await client.query(each.statement.text, [...each.values]);
    await client.query(`prepare explained as ${statement.text}`);
    const call = literals.length > 0 ? `explained(${literals.join(', ')})` : 'explained';
    const { rows } = await client.query<{ 'QUERY PLAN': { Plan: Node }[] }>(
      `explain (analyze, buffers, format json) execute ${call}`,
    );
    return await planOf(client, rows[0]?.['QUERY PLAN'][0]?.Plan as Node);
  } finally {
    await client.query('rollback');
    await client.query('deallocate all');
  }
}

/**
 * Returns a value as an SQL literal. PostgreSQL converts a Buffer, which contains an array in the binary format, to
 * text.
 */
async function literalOf(client: pg.PoolClient, value: unknown): Promise<string> {
  if (value === null) return 'null';
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  if (typeof value === 'string') return client.escapeLiteral(value);
  if (Array.isArray(value)) return client.escapeLiteral(`{${value.map((each) => JSON.stringify(each)).join(',')}}`);
  if (value instanceof Date) return client.escapeLiteral(value.toISOString());
  if (!Buffer.isBuffer(value)) throw new Error(`No literal for ${typeof value}.`);
  const { rows: types } = await client.query<{ name: string }>('select $1::oid::regtype::text as name', [
    value.readInt32BE(8),
  ]);
  const { rows } = await client.query<{ text: string }>(`select ($1::${types[0]?.name}[])::text as text`, [value]);
  return client.escapeLiteral(rows[0]?.text ?? '');
}

/**
 * Returns, for each index of a partition, the index of the parent table that migrations created. Null for an empty
 * partition.
 */
async function parentsOfIndexes(client: pg.PoolClient, names: readonly string[]): Promise<Map<string, string | null>> {
  const { rows } = await client.query<{ child: string; parent: string | null }>(
    `
    select c.relname as child, case when c.reltuples > 0 then p.relname end as parent from pg_class c
    join pg_inherits i on c.oid = i.inhrelid join pg_class p on p.oid = i.inhparent where c.relkind = 'i' and c.relname = any ($1)`,
    [[...new Set(names)]],
  );
  return new Map(rows.map(({ child, parent }) => [child, parent]));
}

async function planOf(client: pg.PoolClient, root: Node): Promise<Plan> {
  // Ignores plan nodes that never ran.
  const nodes = flat(root).filter((node) => node['Actual Loops'] !== 0);
  const names = nodes.flatMap((node) => [
    ...(node['Index Name'] ? [node['Index Name']] : []),
    ...(node['Conflict Arbiter Indexes'] ?? []),
  ]);
  const parents = await parentsOfIndexes(client, names);
  const scanned = nodes.filter((node) => node['Node Type'] === 'Seq Scan' && rowsRead(node) >= SCANNED_ROWS_MIN);
  return {
    indexes: [...new Set(names.map((name) => (parents.has(name) ? parents.get(name) : name)))]
      .filter((name): name is string => typeof name === 'string' && !name.startsWith('pg_'))
      .sort(),
    scanned: scanned.map((node) => `${node['Relation Name']}: ${rowsRead(node)} rows`),
    pages: (root['Shared Hit Blocks'] ?? 0) + (root['Shared Read Blocks'] ?? 0),
  };
}

function rowsRead(node: Node): number {
  return ((node['Actual Rows'] ?? 0) + (node['Rows Removed by Filter'] ?? 0)) * (node['Actual Loops'] ?? 0);
}

function flat(node: Node): Node[] {
  return [node, ...(node.Plans ?? []).flatMap(flat)];
}
