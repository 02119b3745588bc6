import { randomBytes } from 'node:crypto';
import pg from 'pg';

/** A database of one suite. */
export interface TestDatabase {
  readonly url: string;
  /** Closes every connection to the database and drops it. Safe to repeat. */
  drop(): Promise<void>;
}

/** Template databases. The global setup creates both. */
const TEMPLATES = {
  /** The current schema without rows. */
  migrated: 'posthorn_template',
  /** The current schema, the queues' tables and the partitions, so that the service's first start is faster. */
  started: 'posthorn_started',
} as const;

/** Creates a database with the current schema and no rows. */
export async function createDatabase(template: keyof typeof TEMPLATES = 'started'): Promise<TestDatabase> {
  const name = `test_${randomBytes(6).toString('hex')}`;
  // Uses FILE_COPY, because the default writes each page of 2,500 relations to the WAL, at twice the CPU cost.
  await onServer(`CREATE DATABASE ${name} TEMPLATE ${TEMPLATES[template]} STRATEGY FILE_COPY`);
  return {
    url: urlOf(name),
    drop: () => onServer(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`),
  };
}

async function onServer(statement: string): Promise<void> {
  const client = new pg.Client({ connectionString: urlOf('postgres') });
  await client.connect();
  try {
    await client.query(statement);
  } finally {
    await client.end();
  }
}

function urlOf(database: string): string {
  const server = process.env['POSTHORN_TEST_PG'];
  if (!server)
    throw new Error('There is no test database server: run this suite through Jest (npm test), which starts one.');
  const url = new URL(server);
  url.pathname = `/${database}`;
  return url.href;
}
