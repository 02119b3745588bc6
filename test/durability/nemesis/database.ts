import { mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { type KeptProcess, noteForReaper } from '../processes.js';
import { KillablePostgres } from '../storage.js';
import { SmallDisk } from './small-disk.js';
import { PrimaryAndStandby } from './standby.js';

/** The PostgreSQL below a fleet, as its owner sees it: past every proxy. */
export interface FleetDatabase {
  /** Where it is now. */
  url(): string;
  /** The parent of its processes. */
  pid(): number;
  readonly disk?: SmallDisk;
  readonly pair?: PrimaryAndStandby;
  /** Tells the reaper of the server as it is now, where nobody else does. */
  note?(): void;
  stop(): Promise<void>;
}

/** A supervised server: it comes back on the same port whatever ends it. */
export async function plainDatabase(): Promise<FleetDatabase> {
  const server = await KillablePostgres.start();
  return { url: () => server.url, pid: () => server.pid(), stop: () => server.stop() };
}

/** The same on a disk that can be filled; its log of changes stays small. */
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

/** A primary and a synchronous standby. */
export async function pairedDatabase(): Promise<FleetDatabase> {
  const pair = await PrimaryAndStandby.start();
  return { url: () => pair.url(), pid: () => 0, pair, stop: () => pair.stop() };
}

/** The one that a Posthorn process starts under its DATA_DIR. */
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

  /** Its server outlives the process that started it: the reaper must know of it. */
  note(): void {
    this.retract();
    this.retract = noteForReaper(this.pid());
  }

  /** The process that has it stops it. */
  async stop(): Promise<void> {
    this.retract();
  }

  private pidFile(): string[] {
    return readFileSync(path.join(this.dataDir, 'postgres', 'postmaster.pid'), 'utf8').split('\n');
  }
}

/** Stops a process so that it also stops the PostgreSQL that it has. */
export async function stopWithDatabase(member: KeptProcess): Promise<void> {
  const late = setTimeout(() => void member.stop(), 30_000);
  await member.terminate();
  clearTimeout(late);
}
