import { type Config, ConfigError, loadConfig } from '#kernel/config/config.js';
import { restoreBackup, type RestoredBackup } from '../bootstrap/embedded/restore-file.js';
import { argumentsOf } from '../bootstrap/server-commands.js';
import { startFailure } from '../bootstrap/start-failure.js';

/** Restores a backup into DATA_DIR. @throws ConfigError with one line for the operator. */
function restore(config: Config, file: string): Promise<RestoredBackup> {
  if (!config.isEmbedded)
    throw new ConfigError(
      'DATABASE_URL leads to a PostgreSQL of your own: a backup is restored into DATA_DIR, without DATABASE_URL.',
    );
  return restoreBackup({ dataDir: config.dataDir, file });
}

function fileOf(given: string[]): string {
  const [file = '', ...more] = given;
  if (file === '' || file.startsWith('-') || more.length > 0)
    throw new ConfigError('Name one file: `posthorn restore FILE`. It is restored into DATA_DIR.');
  return file;
}

function linesOf({ dataDir, createdAt, hasMasterKey }: RestoredBackup, config: Config): string[] {
  const lines = [
    `${dataDir} has the database of ${createdAt}. Start Posthorn with this DATA_DIR: data accepted later is missing, and deliveries that were in flight then are sent again.`,
  ];
  if (!hasMasterKey && config.configuredMasterKey === null) {
    lines.push('The master key was not in the backup: put master.key there, or set MASTER_KEY, before you start.');
  }
  return lines;
}

let config: Config | null = null;
try {
  const file = fileOf(argumentsOf('restore'));
  config = loadConfig();
  process.stdout.write(`${linesOf(await restore(config, file), config).join('\n')}\n`);
} catch (error) {
  process.stderr.write(`Nothing was restored: ${startFailure(error, config)}\n`);
  process.exitCode = 1;
}
