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

/** Of the layout below. A file of another one is not restored. */
export const BACKUP_FORMAT = 1;

/** What stands in a backup besides the files of the cluster, which are at its top. */
export const OWN_FOLDER = 'posthorn/';
export const DESCRIPTION = `${OWN_FOLDER}backup.json`;

/** Files of DATA_DIR that hold the master key: the second one only while a rotation was interrupted. */
export const MASTER_KEY_FILES = ['master.key', 'master.key.next'];

/** The first file of a backup. */
export interface BackupDescription {
  format: number;
  /** Of the PostgreSQL that the files are for. */
  postgresMajor: number;
  createdAt: string;
  /** False when the key comes from MASTER_KEY, or was to be left out. */
  hasMasterKey: boolean;
}

/** What a backup came to. */
export interface WrittenBackup {
  file: string;
  bytes: number;
  hasMasterKey: boolean;
}

/** Little is gained by more: most of what is stored is squeezed once, and the service next to it wants the processor too. */
const GZIP_LEVEL = 1;

/**
 * Writes a backup of the server at `url`, whose DATA_DIR this is: one gzipped tar file with the whole cluster, its password and,
 * with `withKey`, the master key. The service may run. The file appears when it is whole and on the disk, closed to others;
 * one that is there is never replaced.
 *
 * @throws EmbeddedPostgresError, whose message is one sentence for the operator.
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

/** The major version of PostgreSQL, which its files belong to. */
export function majorOf({ postgres }: Binaries): number {
  return Number(/\d+/.exec(execFileSync(postgres, ['--version'], { cwd: '/', encoding: 'utf8' }))?.[0]);
}

async function draftStream(draft: string): Promise<WriteStream> {
  const handle = await open(draft, 'wx', 0o600);
  // Written through before it is called whole.
  return handle.createWriteStream({ flush: true });
}

/** A link fails where a file is: two backups to one name do not replace each other. */
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
