import 'reflect-metadata';
import { existsSync } from 'node:fs';
import path from 'node:path';
import { SystemClock } from '#kernel/clock.js';
import { type Config, ConfigError, loadConfig } from '#kernel/config/config.js';
import { Database, sqlState } from '#kernel/database/database.js';
import { followDatabase } from '#kernel/database/database-time.js';
import { SeenClockStore } from '#kernel/database/seen-clock.store.js';
import { Ids } from '#kernel/ids.js';
import { AuditStore } from '#modules/audit/audit.store.js';
import { StoredAuditTrail } from '#modules/audit/stored-audit-trail.js';
import { openDatabase } from '../bootstrap/data-source.js';
import { runningEmbeddedPostgres, startEmbeddedPostgres } from '../bootstrap/embedded.js';
import { startFailure } from '../bootstrap/start-failure.js';

const NOT_STARTED = 'Posthorn has not been started on this database yet, or not with this version: start it once.';
const UNDEFINED_TABLE = '42P01';
/** Dummy key: this command reads and writes no encrypted data. */
const NO_MASTER_KEY = Buffer.alloc(32);

/** Connects to DATABASE_URL or to the embedded database, whether the service runs or not. */
async function run(config: Config): Promise<string> {
  if (!config.isEmbedded) return confirm(config.databaseDirectUrl, config);
  const running = runningEmbeddedPostgres(config.dataDir);
  if (running !== null) return confirm(running, config);
  const directory = path.resolve(config.dataDir);
  if (!existsSync(path.join(directory, 'postgres')))
    throw new ConfigError(
      `There is no database in DATA_DIR ${directory}: start Posthorn, or set the DATA_DIR that it uses.`,
    );
  const postgres = await startEmbeddedPostgres({ dataDir: config.dataDir });
  try {
    return await confirm(postgres.url, config);
  } finally {
    await postgres.stop();
  }
}

/** Confirms the clock and writes the audit entry in one transaction. */
async function confirm(url: string, config: Config): Promise<string> {
  const source = await openDatabase(url);
  const database = new Database(source, config.completedWith(url, NO_MASTER_KEY));
  try {
    const clock = new SystemClock();
    await followDatabase(clock, (text) => source.query(text));
    const audit = new AuditStore(database);
    await audit.ensurePartitions();
    return await database.unitOfWork(() =>
      database.transaction(async () => {
        const confirmed = await new SeenClockStore(database).confirm();
        if (confirmed === null) return 'Retention does not wait for a confirmation.\n';
        const [from, to] = [new Date(confirmed.leaptFromMs).toISOString(), new Date(confirmed.seenAtMs).toISOString()];
        await new StoredAuditTrail(audit, new Ids(clock)).record({
          organizationId: null,
          environmentId: null,
          actor: { kind: 'operator', id: null },
          action: 'posthorn confirm-clock',
          resourceType: 'clock',
          resourceId: null,
          origin: null,
          before: { time: from },
          after: { time: to },
        });
        return `Confirmed: it is ${to}. Retention removes expired data again from now on.\n`;
      }),
    );
  } catch (error) {
    throw sqlState(error) === UNDEFINED_TABLE ? new ConfigError(NOT_STARTED) : error;
  } finally {
    await database.close();
  }
}

let config: Config | null = null;
try {
  config = loadConfig();
  if (process.argv.length > 2) throw new ConfigError('The command takes no options.');
  process.stdout.write(await run(config));
} catch (error) {
  process.stderr.write(`${startFailure(error, config)}\n`);
  process.exitCode = 1;
}
