import { randomBytes } from 'node:crypto';
import {
  closeSync,
  existsSync,
  fsyncSync,
  linkSync,
  mkdirSync,
  openSync,
  readFileSync,
  rmSync,
  writeSync,
} from 'node:fs';
import path from 'node:path';
import type { Config } from '#kernel/config/config.js';
import { ConfigError } from '#kernel/config/config.js';
import { parseMasterKey } from '#kernel/config/config-values.js';

/**
 * Returns the 32 bytes that encrypt secrets at rest: MASTER_KEY, or the key in `DATA_DIR/master.key`. The first
 * embedded start creates that file with mode 0600. Call it before PostgreSQL starts. Never creates a new key for an
 * existing database, because none of its secrets could be decrypted any more.
 *
 * @throws ConfigError if the file is not usable, or is missing although a database exists.
 */
export function provideMasterKey(config: Config): Buffer {
  if (config.configuredMasterKey !== null) return config.configuredMasterKey;
  const file = path.resolve(config.dataDir, 'master.key');
  if (!existsSync(file)) {
    if (existsSync(path.join(path.dirname(file), 'postgres'))) {
      throw new ConfigError(
        `${file} is missing, but the database that it protects exists: restore the file, or set MASTER_KEY.`,
      );
    }
    writeOnce(file, randomBytes(32).toString('base64'));
  }
  const key = parseMasterKey(readFileSync(file, 'utf8').trim());
  if (key === null)
    throw new ConfigError(`${file} must hold 32 bytes in base64 or hex: restore it, or set MASTER_KEY.`);
  return key;
}

/** Creates the file atomically. If two processes create it at once, the first content wins. */
function writeOnce(file: string, content: string): void {
  mkdirSync(path.dirname(path.dirname(file)), { recursive: true });
  if (!existsSync(path.dirname(file))) mkdirSync(path.dirname(file), { mode: 0o700 });
  const draft = `${file}.${process.pid}`;
  const descriptor = openSync(draft, 'w', 0o600);
  try {
    writeSync(descriptor, `${content}\n`);
    fsyncSync(descriptor);
    linkSync(draft, file);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  } finally {
    closeSync(descriptor);
    rmSync(draft, { force: true });
  }
}
