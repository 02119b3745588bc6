import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import {
  accessSync,
  chmodSync,
  chownSync,
  constants,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import type { Account } from './account.js';
import { canReach } from './account.js';
import type { Binaries } from './binaries.js';
import { SYSTEM_DIR } from './binaries.js';
import { EmbeddedPostgresError, errorCode } from './failure.js';

/** Environment of the server. LC_ALL keeps messages in English, because the supervisor parses them. */
export const SERVER_ENV: Readonly<Record<string, string>> = { PATH: '/usr/bin:/bin', TZ: 'UTC', LC_ALL: 'C' };

export interface Cluster {
  /** Cluster directory, with every symbolic link resolved. */
  readonly dir: string;
  readonly logFile: string;
  readonly password: string;
}

export interface PidFile {
  readonly pid: number;
  readonly port: number;
  readonly isReady: boolean;
}

/**
 * Creates DATA_DIR, accessible only to its owner, and its parents with the default mode.
 *
 * @throws EmbeddedPostgresError if this process may not write there.
 */
export function makeDataDir(dataDir: string): string {
  const directory = path.resolve(dataDir);
  try {
    mkdirSync(path.dirname(directory), { recursive: true });
    if (!existsSync(directory)) mkdirSync(directory, { mode: 0o700 });
    accessSync(directory, constants.W_OK | constants.X_OK);
    return realpathSync(directory);
  } catch (error) {
    throw new EmbeddedPostgresError(
      `DATA_DIR ${directory} can't be written to (${errorCode(error)}): set another one, or DATABASE_URL.`,
    );
  }
}

/**
 * Returns the path `postgres` in DATA_DIR. It is the cluster's directory, or a link to it if PostgreSQL's account
 * cannot reach DATA_DIR.
 */
export function clusterLink(dataDir: string): string {
  return path.join(dataDir, 'postgres');
}

/**
 * Opens the cluster, and creates it at the first start. A new cluster is created under a temporary name and then
 * renamed, so that an interrupted start leaves no partial cluster.
 */
export function openCluster(dataDir: string, account: Account, binaries: Binaries): Cluster {
  const link = clusterLink(dataDir);
  const password = passwordFile(dataDir);
  const isNew = !existsSync(link);
  if (!isNew && !existsSync(password)) {
    throw new EmbeddedPostgresError(
      `${password} is missing, but the database that it belongs to exists: restore the file.`,
    );
  }
  if (isNew) {
    if (!existsSync(password)) writeFileSync(password, `${randomBytes(24).toString('base64url')}\n`, { mode: 0o600 });
    initialize(link, placeFor(dataDir, account), readFileSync(password, 'utf8'), account, binaries);
  } else {
    admit(dataDir, account);
  }
  const dir = realpathSync(link);
  if (!canReach(account, dir)) {
    throw new EmbeddedPostgresError(
      `User id ${account?.uid}, which PostgreSQL has to run as, has no access to ${dir}: make its parent directories accessible, or set another DATA_DIR.`,
    );
  }
  const logFile = path.join(dataDir, 'postgres.log');
  return { dir, logFile, password: passwordOf(dataDir) };
}

export function passwordOf(dataDir: string): string {
  return readFileSync(passwordFile(dataDir), 'utf8').trim();
}

export function passwordFile(dataDir: string): string {
  return path.join(dataDir, 'postgres.password');
}

/** Returns the content of postmaster.pid, or `null` if the file is missing or incomplete. */
export function readPidFile(clusterDir: string): PidFile | null {
  try {
    const lines = readFileSync(pidFilePath(clusterDir), 'utf8').split('\n');
    const pid = Math.abs(Number(lines[0]));
    return pid > 0 ? { pid, port: Number(lines[3]), isReady: lines[7]?.trim() === 'ready' } : null;
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return null;
    throw error;
  }
}

/**
 * Replaces the pid in postmaster.pid after the server has exited. The old pid would prevent the next start if it was
 * reused or belongs to a zombie. PostgreSQL ignores a file with the pid of its parent, so this writes the pid of this
 * process.
 *
 * Does not delete the file: PostgreSQL reads it to check that no process of the old server still writes.
 */
export function disownPidFile(clusterDir: string): void {
  const file = pidFilePath(clusterDir);
  if (!existsSync(file)) return;
  const [, ...rest] = readFileSync(file, 'utf8').split('\n');
  writeFileSync(file, [String(process.pid), ...rest].join('\n'));
}

function pidFilePath(clusterDir: string): string {
  return path.join(clusterDir, 'postmaster.pid');
}

/**
 * Returns the directory in which to create a cluster: DATA_DIR, or one in `SYSTEM_DIR` if PostgreSQL's account cannot
 * reach DATA_DIR.
 */
export function placeFor(dataDir: string, account: Account): string {
  admit(dataDir, account);
  if (canReach(account, dataDir)) return dataDir;
  mkdirSync(SYSTEM_DIR, { recursive: true, mode: 0o755 });
  const place = mkdtempSync(path.join(SYSTEM_DIR, 'data-'));
  chmodSync(place, 0o711);
  return place;
}

/**
 * Makes DATA_DIR traversable (`x`) if this lets the PostgreSQL account reach the cluster. The files in DATA_DIR stay
 * protected by their own modes.
 */
function admit(dataDir: string, account: Account): void {
  if (canReach(account, dataDir) || !canReach(account, path.dirname(dataDir))) return;
  chmodSync(dataDir, (statSync(dataDir).mode & 0o777) | 0o011);
}

function initialize(link: string, place: string, password: string, account: Account, binaries: Binaries): void {
  const draft = path.join(place, 'postgres.new');
  const passwordCopy = path.join(place, 'postgres.new.password');
  rmSync(draft, { recursive: true, force: true });
  mkdirSync(draft, { mode: 0o700 });
  writeFileSync(passwordCopy, password, { mode: 0o600 });
  if (account !== null) {
    for (const file of [draft, passwordCopy]) chownSync(file, account.uid, account.gid);
  }
  try {
    runInitdb(binaries.initdb, draft, passwordCopy, account);
  } finally {
    rmSync(passwordCopy, { force: true });
  }
  const dir = path.join(place, 'postgres');
  renameSync(draft, dir);
  if (dir !== link) symlinkSync(dir, link);
}

function runInitdb(initdb: string, dir: string, passwordFile: string, account: Account): void {
  const options = [
    '-D',
    dir,
    '-U',
    'postgres',
    '-A',
    'scram-sha-256',
    `--pwfile=${passwordFile}`,
    '--no-instructions',
    // The built-in locale provider sorts text identically on every machine and after every upgrade of the C library.
    '-E',
    'UTF8',
    '--locale=C',
    '--locale-provider=builtin',
    '--builtin-locale=C.UTF-8',
  ];
  try {
    execFileSync(initdb, options, { ...account, cwd: '/', env: SERVER_ENV, stdio: ['ignore', 'ignore', 'pipe'] });
  } catch (error) {
    const said =
      String((error as { stderr?: Buffer }).stderr ?? '')
        .trim()
        .split('\n')
        .at(-1) || String((error as Error).message);
    throw new EmbeddedPostgresError(
      `The embedded PostgreSQL can't be set up in ${dir} (${said}): set DATABASE_URL to a PostgreSQL server.`,
    );
  }
}
