import 'reflect-metadata';
import { type Config, loadConfig } from '#kernel/config/config.js';
import { startEmbeddedPostgres } from '../bootstrap/embedded.js';
import { loadExtensions } from '../bootstrap/extensions.js';
import { provideMasterKey } from '../bootstrap/master-key.js';
import { migrateOnce } from '../bootstrap/migrate.js';
import { expectNoArguments } from '../bootstrap/server-commands.js';
import { startFailure } from '../bootstrap/start-failure.js';

/** Runs the migrations without starting the service, as a separate step before processes are replaced. */
async function migrate(config: Config): Promise<void> {
  const masterKey = provideMasterKey(config);
  const extensions = await loadExtensions(config.extensions);
  const postgres = config.isEmbedded ? await startEmbeddedPostgres({ dataDir: config.dataDir }) : null;
  try {
    await migrateOnce(config.completedWith(postgres?.url ?? config.databaseUrl, masterKey), extensions);
  } finally {
    await postgres?.stop();
  }
}

let config: Config | null = null;
try {
  expectNoArguments('migrate');
  config = loadConfig();
  await migrate(config);
  process.stdout.write('The database is up to date.\n');
} catch (error) {
  process.stderr.write(`The database was not migrated: ${startFailure(error, config)}\n`);
  process.exitCode = 1;
}
