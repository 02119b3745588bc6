import { execFileSync } from 'node:child_process';
import {
  closeSync,
  existsSync,
  fsyncSync,
  linkSync,
  openSync,
  readFileSync,
  rmSync,
  statSync,
  type WriteStream,
} from 'node:fs';
import { open } from 'node:fs/promises';
import path from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import { baseBackup } from './base-backup.js';
import type { Binaries } from './binaries.js';
import { passwordFile } from './cluster.js';
import { EmbeddedPostgresError, errorCode } from './failure.js';
import { tarFile } from './tar.js';

/** Version of the layout below. Backups with another version cannot be restored. */
export const BACKUP_FORMAT = 1;

/** Folder in the backup for Posthorn's own files. The files of the PostgreSQL cluster are at the top level. */
export const OWN_FOLDER = 'posthorn/';
export const DESCRIPTION = `${OWN_FOLDER}backup.json`;

/** Files in DATA_DIR that hold the master key. The second one exists only if a key rotation was interrupted. */
export const MASTER_KEY_FILES = ['master.key', 'master.key.next'];

export interface BackupDescription {
  format: number;
  /** Major version of PostgreSQL that can read the cluster's files. */
  postgresMajor: number;
  createdAt: string;
  /** Whether the backup contains the master key. False if the key comes from MASTER_KEY or the operator excluded it. */
  hasMasterKey: boolean;
}

export interface WrittenBackup {
  file: string;
  bytes: number;
  hasMasterKey: boolean;
}

/** Compression level. Higher levels cost more CPU and save little, because most of the data is already compressed. */
const GZIP_LEVEL = 1;

/**
 * Writes a backup of the running server at `url` in `dataDir`: one gzipped tar file with the whole cluster, its
 * password and, with `withKey`, the master key. The file appears only after it is complete and fsynced. Only its owner
 * can access it. Never replaces a file.
 * @throws EmbeddedPostgresError with one sentence for the operator as its message.
 */
export async function writeBackup({
  url,
  dataDir,
  file,
  withKey,
  binaries,
  at,
}: {
  url: string;
  dataDir: string;
  file: string;
  withKey: boolean;
  binaries: Binaries;
  at: Date;
}): Promise<WrittenBackup> {
  const target = path.resolve(file);
  if (existsSync(target)) throw new EmbeddedPostgresError(`${target} exists already: name another file.`);
  const draft = `${target}.part-${process.pid}`;
  const keys = MASTER_KEY_FILES.filter((name) => withKey && existsSync(path.join(dataDir, name)));
  const description: BackupDescription = {
    format: BACKUP_FORMAT,
    postgresMajor: majorOf(binaries),
    createdAt: at.toISOString(),
    hasMasterKey: keys.length > 0,
  };
  async function* contents(): AsyncGenerator<Buffer> {
    yield tarFile(DESCRIPTION, Buffer.from(`${JSON.stringify(description)}\n`));
    for (const name of keys) yield tarFile(OWN_FOLDER + name, readFileSync(path.join(dataDir, name)));
    yield tarFile(`${OWN_FOLDER}postgres.password`, readFileSync(passwordFile(dataDir)));
    yield* baseBackup(url);
  }
  try {
    await pipeline(Readable.from(contents()), createGzip({ level: GZIP_LEVEL }), await draftStream(draft));
    publish(draft, target);
  } catch (error) {
    if (error instanceof EmbeddedPostgresError) throw error;
    throw new EmbeddedPostgresError(
      `${target} could not be written (${errorCode(error) ?? (error as Error).message}).`,
    );
  } finally {
    rmSync(draft, { force: true });
  }
  return { file: target, bytes: statSync(target).size, hasMasterKey: description.hasMasterKey };
}

/** Returns the major version of the PostgreSQL binaries. The format of the cluster's files depends on it. */
export function majorOf({ postgres }: Binaries): number {
  return Number(/\d+/.exec(execFileSync(postgres, ['--version'], { cwd: '/', encoding: 'utf8' }))?.[0]);
}

async function draftStream(draft: string): Promise<WriteStream> {
  const handle = await open(draft, 'wx', 0o600);
  // The stream fsyncs the file before it reports completion.
  return handle.createWriteStream({ flush: true });
}

/** Gives a complete backup its final name. `link` fails if the target exists, so no backup replaces another. */
function publish(draft: string, target: string): void {
  try {
    linkSync(draft, target);
  } catch (error) {
    if (errorCode(error) === 'EEXIST') throw new EmbeddedPostgresError(`${target} exists already: name another file.`);
    throw error;
  }
  const folder = openSync(path.dirname(target), 'r');
  try {
    fsyncSync(folder);
  } finally {
    closeSync(folder);
  }
}
