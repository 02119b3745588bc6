import {
  appendFileSync,
  chmodSync,
  chownSync,
  createReadStream,
  existsSync,
  mkdirSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { open } from 'node:fs/promises';
import path from 'node:path';
import { createGunzip } from 'node:zlib';
import { type Account, accountFor } from './account.js';
import {
  BACKUP_FORMAT,
  type BackupDescription,
  DESCRIPTION,
  majorOf,
  MASTER_KEY_FILES,
  OWN_FOLDER,
} from './backup-file.js';
import { locateBinaries } from './binaries.js';
import { clusterLink, makeDataDir, passwordFile, placeFor } from './cluster.js';
import { EmbeddedPostgresError, errorCode } from './failure.js';
import { lockDirectory } from './lock.js';
import { readTar, type TarEntry } from './tar.js';

export interface RestoredBackup {
  dataDir: string;
  createdAt: string;
  hasMasterKey: boolean;
}

/** Names, in the backup, of the files that are restored into DATA_DIR beside the cluster. */
const OWN_FILES: readonly string[] = ['postgres.password', ...MASTER_KEY_FILES];

/**
 * Configuration for a recovery from an empty archive. PostgreSQL then starts a new timeline, which invalidates the pull
 * cursors that were issued after the backup. Data written after the backup is lost, so these cursors would be wrong.
 */
const NO_ARCHIVE = `\n# Written by a restore: there is no archive besides the WAL of the backup.\nrestore_command = 'false'\n`;

/**
 * Restores a backup into a DATA_DIR without a database. Unpacks under temporary names and renames at the end, so that
 * an interrupted restore leaves no partial database.
 *
 * @throws EmbeddedPostgresError with one sentence for the operator as its message.
 */
export async function restoreBackup({
  dataDir: given,
  file,
}: {
  dataDir: string;
  file: string;
}): Promise<RestoredBackup> {
  if (!existsSync(file)) throw new EmbeddedPostgresError(`There is no ${path.resolve(file)}.`);
  const dataDir = makeDataDir(given);
  const unlock = lockDirectory(dataDir);
  try {
    refuseToReplace(dataDir);
    const account = accountFor(clusterLink(dataDir));
    const place = placeFor(dataDir, account);
    const draft = path.join(place, 'postgres.restoring');
    rmSync(draft, { recursive: true, force: true });
    mkdirSync(draft, { mode: 0o700 });
    try {
      const own = new Map<string, Buffer>();
      const description = await unpack(file, {
        draft,
        own,
        account,
        postgresMajor: majorOf(await locateBinaries(account)),
      });
      appendFileSync(path.join(draft, 'postgresql.auto.conf'), NO_ARCHIVE);
      writeFileSync(path.join(draft, 'recovery.signal'), '', { mode: 0o600 });
      if (account !== null)
        for (const name of ['.', 'recovery.signal']) chownSync(path.join(draft, name), account.uid, account.gid);
      for (const [name, content] of own) writeFileSync(path.join(dataDir, name), content, { mode: 0o600, flush: true });
      settle(draft, path.join(place, 'postgres'), clusterLink(dataDir));
      return { dataDir, createdAt: description.createdAt, hasMasterKey: description.hasMasterKey };
    } finally {
      rmSync(draft, { recursive: true, force: true });
    }
  } catch (error) {
    if (error instanceof EmbeddedPostgresError) throw error;
    throw new EmbeddedPostgresError(
      `${path.resolve(file)} could not be restored (${errorCode(error) ?? (error as Error).message}).`,
    );
  } finally {
    unlock();
  }
}

/** Throws if DATA_DIR contains a database or keys, because a restore never replaces them. */
function refuseToReplace(dataDir: string): void {
  const there = [clusterLink(dataDir), ...MASTER_KEY_FILES.map((name) => path.join(dataDir, name))].find((name) =>
    existsSync(name),
  );
  if (there !== undefined)
    throw new EmbeddedPostgresError(
      `${there} exists already: a restore needs a DATA_DIR without a database, and replaces nothing.`,
    );
  // Removes the password that an interrupted start created. No database uses it.
  rmSync(passwordFile(dataDir), { force: true });
}

/** Unpacks the cluster into the directory `draft`. Reads the other files, which belong in DATA_DIR, into `own`. */
async function unpack(
  file: string,
  {
    draft,
    own,
    account,
    postgresMajor,
  }: { draft: string; own: Map<string, Buffer>; account: Account; postgresMajor: number },
): Promise<BackupDescription> {
  let description: BackupDescription | null = null;
  try {
    const zipped = createReadStream(file);
    const plain = createGunzip();
    zipped.once('error', (error) => plain.destroy(error)).pipe(plain);
    for await (const entry of readTar(plain)) {
      if (description === null) description = await describe(entry, postgresMajor);
      else if (entry.name.startsWith(OWN_FOLDER)) own.set(ownName(entry), await whole(entry));
      else await place(entry, draft, account);
    }
  } catch (error) {
    throw new EmbeddedPostgresError(`${path.resolve(file)} can't be restored: ${reasonOf(error)}.`);
  }
  const isWhole =
    own.has('postgres.password') &&
    existsSync(path.join(draft, 'backup_label')) &&
    existsSync(path.join(draft, 'PG_VERSION'));
  if (description === null || !isWhole)
    throw new EmbeddedPostgresError(`${path.resolve(file)} can't be restored: parts of it are missing.`);
  return description;
}

function reasonOf(error: unknown): string {
  if (error instanceof EmbeddedPostgresError) return error.message;
  return String(errorCode(error)).startsWith('Z_')
    ? 'it is cut off, damaged, or no gzip file'
    : (error as Error).message;
}

async function describe(entry: TarEntry, postgresMajor: number): Promise<BackupDescription> {
  if (entry.name !== DESCRIPTION) throw new EmbeddedPostgresError('it was not made by `posthorn backup`');
  const description = JSON.parse((await whole(entry)).toString()) as BackupDescription;
  if (description.format !== BACKUP_FORMAT)
    throw new EmbeddedPostgresError(`its format is ${description.format}, and this Posthorn reads ${BACKUP_FORMAT}`);
  if (description.postgresMajor !== postgresMajor) {
    throw new EmbeddedPostgresError(
      `it was made with PostgreSQL ${description.postgresMajor}, but PostgreSQL ${postgresMajor} is installed here: restore it with the Posthorn version that made it`,
    );
  }
  return description;
}

function ownName({ name }: TarEntry): string {
  const own = name.slice(OWN_FOLDER.length);
  if (!OWN_FILES.includes(own)) throw new EmbeddedPostgresError(`it contains ${name}, which is unknown`);
  return own;
}

async function whole({ content }: TarEntry): Promise<Buffer> {
  const parts: Buffer[] = [];
  for await (const part of content) parts.push(part);
  return Buffer.concat(parts);
}

/** Writes one tar entry. Rejects names that point outside the draft directory. */
async function place(entry: TarEntry, draft: string, account: Account): Promise<void> {
  const target = path.join(draft, entry.name);
  if (target !== draft && !target.startsWith(draft + path.sep))
    throw new EmbeddedPostgresError(`${entry.name} leads outside the backup`);
  mkdirSync(entry.kind === 'directory' ? target : path.dirname(target), { recursive: true, mode: 0o700 });
  if (entry.kind === 'file') {
    const handle = await open(target, 'w', 0o600);
    try {
      for await (const part of entry.content) await handle.writeFile(part);
    } finally {
      await handle.close();
    }
  } else {
    chmodSync(target, 0o700);
  }
  if (account !== null) chownSync(target, account.uid, account.gid);
}

/**
 * Moves the cluster last, because its presence marks a complete restore. PostgreSQL fsyncs the cluster's files when it
 * starts.
 */
function settle(draft: string, cluster: string, link: string): void {
  renameSync(draft, cluster);
  if (cluster !== link) symlinkSync(cluster, link);
}
