import { mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { type KeptProcess, noteForReaper } from '../processes.js';
import { KillablePostgres } from '../storage.js';
import { SmallDisk } from './small-disk.js';
import { PrimaryAndStandby } from './standby.js';

/** The PostgreSQL server of a fleet, reached directly instead of through a proxy. */
export interface FleetDatabase {
  /** Returns the server's current address. */
  url(): string;
  /** Returns the process id of the postmaster. */
  pid(): number;
  readonly disk?: SmallDisk;
  readonly pair?: PrimaryAndStandby;
  /**
   * Registers the current server with the reaper, which stops leftover servers. Omitted if other code registers the
   * server.
   */
  note?(): void;
  stop(): Promise<void>;
}

/** Starts a supervised server, which restarts on the same port after any kind of exit. */
export async function plainDatabase(): Promise<FleetDatabase> {
  const server = await KillablePostgres.start();
  return { url: () => server.url, pid: () => server.pid(), stop: () => server.stop() };
}

/** Starts a supervised server on a disk that can be filled. Its WAL stays small. */
export async function smallDatabase(): Promise<FleetDatabase> {
  const disk = SmallDisk.mount();
  if (!disk) throw new Error('There is no small disk: mounting one needs root and the right to mount.');
  const server = await KillablePostgres.start({
    directory: disk.directory,
    settings: { max_wal_size: '96MB', min_wal_size: '32MB' },
  });
  const stop = async (): Promise<void> => {
    disk.free();
    await server.stop();
    disk.remove();
  };
  return { url: () => server.url, pid: () => server.pid(), disk, stop };
}

export async function pairedDatabase(): Promise<FleetDatabase> {
  const pair = await PrimaryAndStandby.start();
  return { url: () => pair.url(), pid: () => 0, pair, stop: () => pair.stop() };
}

/** The server that a Posthorn process starts under its DATA_DIR. */
export class OwnDatabase implements FleetDatabase {
  readonly dataDir = path.join(
    mkdtempSync(path.join(process.env['POSTHORN_TEST_DIR'] ?? tmpdir(), 'embedded-')),
    'data',
  );
  private retract = (): void => undefined;

  url(): string {
    const password = readFileSync(path.join(this.dataDir, 'postgres.password'), 'utf8').trim();
    return `postgres://postgres:${password}@127.0.0.1:${this.pidFile()[3]}/posthorn`;
  }

  pid(): number {
    return Number(this.pidFile()[0]);
  }

  /** The server outlives the process that started it, so the reaper must stop it. */
  note(): void {
    this.retract();
    this.retract = noteForReaper(this.pid());
  }

  /** The process that owns the server stops it. */
  async stop(): Promise<void> {
    this.retract();
  }

  private pidFile(): string[] {
    return readFileSync(path.join(this.dataDir, 'postgres', 'postmaster.pid'), 'utf8').split('\n');
  }
}

/** Stops a process so that it also stops its embedded PostgreSQL. */
export async function stopWithDatabase(member: KeptProcess): Promise<void> {
  const late = setTimeout(() => void member.stop(), 30_000);
  await member.terminate();
  clearTimeout(late);
}
