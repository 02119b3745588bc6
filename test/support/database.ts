import { randomBytes } from 'node:crypto';
import pg from 'pg';

/** A database of one suite's own. */
export interface TestDatabase {
  readonly url: string;
  /** Ends every connection to it and drops it. Safe to repeat. */
  drop(): Promise<void>;
}

/** What databases are copied from; the global setup makes both. */
const TEMPLATES = {
  /** Today's schema, and nothing in it. */
  migrated: 'posthorn_template',
  /** With the queues' tables and the partitions as well, which a first start would make: the faster one. */
  started: 'posthorn_started',
} as const;

/** Makes a database with today's schema and no rows in it. */
export async function createDatabase(template: keyof typeof TEMPLATES = 'started'): Promise<TestDatabase> {
  const name = `test_${randomBytes(6).toString('hex')}`;
  // As files: the usual way writes each page of 2,500 relations to the log, twice the CPU.
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
