import { existsSync } from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { SystemClock } from '#kernel/clock.js';
import { type Config, ConfigError, loadConfig } from '#kernel/config/config.js';
import { runningEmbeddedPostgres, startEmbeddedPostgres } from '../bootstrap/embedded.js';
import { accountFor } from '../bootstrap/embedded/account.js';
import { writeBackup, type WrittenBackup } from '../bootstrap/embedded/backup-file.js';
import { locateBinaries } from '../bootstrap/embedded/binaries.js';
import { clusterLink } from '../bootstrap/embedded/cluster.js';
import { argumentsOf } from '../bootstrap/server-commands.js';
import { startFailure } from '../bootstrap/start-failure.js';

interface Asked {
  file: string;
  withKey: boolean;
}

/**
 * Backs up the embedded database of a running or stopped service. @throws ConfigError with one line for the operator.
 */
async function backUp(config: Config, { file, withKey }: Asked): Promise<WrittenBackup> {
  if (!config.isEmbedded) {
    throw new ConfigError(
      'DATABASE_URL leads to a PostgreSQL of your own: back it up with its own tools (pg_dump, base backups and WAL).',
    );
  }
  const dataDir = path.resolve(config.dataDir);
  if (!existsSync(clusterLink(dataDir)))
    throw new ConfigError(`There is no database in DATA_DIR ${dataDir}: set the DATA_DIR that Posthorn uses.`);
  const binaries = await locateBinaries(accountFor(clusterLink(dataDir)));
  const at = new SystemClock().now();
  const running = runningEmbeddedPostgres(dataDir);
  if (running !== null) return writeBackup({ url: running, dataDir, file, withKey, binaries, at });
  const postgres = await startEmbeddedPostgres({ dataDir });
  try {
    return await writeBackup({ url: postgres.url, dataDir, file, withKey, binaries, at });
  } finally {
    await postgres.stop();
  }
}

function askedOf(given: string[]): Asked {
  try {
    const { values, positionals } = parseArgs({
      args: given,
      allowPositionals: true,
      options: { 'without-key': { type: 'boolean', default: false } },
    });
    const [file] = positionals;
    if (file !== undefined && file !== '' && positionals.length === 1) return { file, withKey: !values['without-key'] };
  } catch {
    // parseArgs throws for an unknown option. The error for a missing file name covers this case too.
  }
  throw new ConfigError(
    'Name one file: `posthorn backup FILE`, or `posthorn backup FILE --without-key` to exclude the master key.',
  );
}

function linesOf({ file, bytes, hasMasterKey }: WrittenBackup): string[] {
  const size = `${file}: ${(bytes / 1024 / 1024).toFixed(1)} MiB, the whole database as it is now.`;
  return hasMasterKey
    ? [size, 'The master key is in it: anyone with this file can read every secret. Protect it like the key itself.']
    : [
        size,
        'The master key is NOT in it: without MASTER_KEY, or DATA_DIR/master.key, no secret in it can be read. Store the key separately.',
      ];
}

let config: Config | null = null;
try {
  const asked = askedOf(argumentsOf('backup'));
  config = loadConfig();
  process.stdout.write(`${linesOf(await backUp(config, asked)).join('\n')}\n`);
} catch (error) {
  process.stderr.write(`No backup was made: ${startFailure(error, config)}\n`);
  process.exitCode = 1;
}
