import { createDatabase } from '../support/database.js';
import type { PosthornServer } from '../support/server.js';
import { startServer } from '../support/server.js';
import type { Sql, Targets } from './scene.js';
import { openSql, startTargets } from './scene.js';

/** Processes on a database that belongs to a single test. */
export interface OwnFleet {
  readonly targets: Targets;
  readonly sql: Sql;
  /** Starts a process with the same keys as the other processes. */
  start(env?: Readonly<Record<string, string>>): Promise<PosthornServer>;
}

/**
 * Runs a test with its own database and processes, and removes both afterwards. This lets tests that wait for real
 * time, such as the end of a lease, run concurrently.
 */
export async function inOwnFleet(test: (fleet: OwnFleet) => Promise<void>): Promise<void> {
  const [database, targets] = await Promise.all([createDatabase(), startTargets()]);
  const sql = openSql({ databaseUrl: database.url });
  const servers: PosthornServer[] = [];
  let keys: Readonly<Record<string, string>> = { DATABASE_URL: database.url };
  const start: OwnFleet['start'] = async (env = {}) => {
    const server = await startServer({ ...keys, ...env });
    const { MASTER_KEY = '', BOOTSTRAP_API_KEY = '' } = server.env;
    keys = { ...keys, MASTER_KEY, BOOTSTRAP_API_KEY };
    servers.push(server);
    return server;
  };
  try {
    await test({ targets, sql, start });
  } finally {
    for (const server of servers) await server.kill('SIGKILL');
    await sql.close();
    await database.drop();
    await targets.close();
  }
}
