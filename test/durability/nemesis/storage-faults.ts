import { setTimeout as sleep } from 'node:timers/promises';
import type { Disruption } from '../checker.js';
import { eventually } from '../processes.js';
import type { Seeded } from '../random.js';
import { query } from '../storage.js';
import { during, EFFECT_MS_MAX, type FaultKind, type Inflicted, STORAGE_OUT_OF_REACH } from './fault.js';
import type { Fleet } from './fleet.js';
import type { Wire } from './wire.js';

const BACK_MS_MAX = 60_000;
const ROUND_TRIP_MS = 500;
/** Duration of a worker's lease. Other workers take over when it ends. */
const LEASE_MS = 10_000;
const LEASE_SLACK_MS = 2_000;
/** Kinds of fleets with a plain PostgreSQL server, embedded or not. */
const ANY = ['postgres', 'redis', 'embedded', 'mail'] as const;

/** Faults of PostgreSQL and of the connections to it. */
export const STORAGE_FAULTS: readonly FaultKind[] = [
  {
    name: 'postgres-kill',
    group: 'postgres',
    fleets: ANY,
    seconds: [0, 0, 0],
    inflict: (fleet) => restart(fleet, 'kill -9 of PostgreSQL', 'SIGKILL'),
  },
  // Has the effect of `pg_ctl stop -m fast`: SIGINT ends every client connection with 57P01.
  {
    name: 'postgres-restart',
    group: 'postgres',
    fleets: ANY,
    seconds: [0, 0, 0],
    inflict: (fleet) => restart(fleet, 'fast restart of PostgreSQL', 'SIGINT'),
  },
  {
    name: 'postgres-terminate',
    group: 'postgres',
    fleets: ANY,
    seconds: [1, 2, 20],
    inflict: (fleet, _dice, holdMs) => terminate(fleet, holdMs),
  },
  { name: 'postgres-cut', group: 'postgres', fleets: ['postgres', 'mail'], seconds: [7, 10, 60], inflict: cut },
  {
    name: 'postgres-slow',
    group: 'postgres',
    fleets: ['postgres', 'mail'],
    seconds: [6, 10, 60],
    inflict: (fleet, _dice, holdMs) => slow(fleet, holdMs),
  },
  {
    name: 'postgres-full',
    group: 'postgres',
    fleets: ['small disk'],
    seconds: [4, 10, 60],
    inflict: (fleet, _dice, holdMs) => fill(fleet, holdMs),
  },
  {
    name: 'postgres-failover',
    group: 'postgres',
    fleets: ['standby'],
    seconds: [0, 0, 20],
    usesUp: true,
    inflict: failOver,
  },
];

/** Ends the server, which restarts by itself. Returns the record of the fault. */
async function restart(fleet: Fleet, kind: string, signal: 'SIGKILL' | 'SIGINT'): Promise<Inflicted> {
  const { database } = fleet;
  let before = 0;
  const begin = (): void => {
    before = database.pid();
    process.kill(before, signal);
  };
  const isBack = (): Promise<boolean> => (isAnother(fleet, before) ? answers(fleet) : Promise.resolve(false));
  const inflicted = await during(
    kind,
    begin,
    () => eventually(isBack, BACK_MS_MAX, 50),
    () => {
      if (!isAnother(fleet, before)) throw new Error(`PostgreSQL is still process ${before}.`);
      database.note?.();
      return `process ${before} became ${database.pid()}`;
    },
  );
  return { ...inflicted, isOutage: true };
}

/** Repeatedly terminates the PostgreSQL backends of all clients. Returns the record of the fault at its end. */
async function terminate(fleet: Fleet, holdMs: number): Promise<Inflicted> {
  const statement = `select count(pg_terminate_backend(pid))::int as count from pg_stat_activity
                     where backend_type = 'client backend' and datname = current_database() and pid <> pg_backend_pid()`;
  let ended = 0;
  const untilMs = performance.now() + holdMs;
  // Other faults may leave no client to terminate for a while. The fault then lasts until this time at most.
  const giveUpMs = untilMs + EFFECT_MS_MAX;
  const lasts = async (): Promise<void> => {
    do {
      const [row] = await query<{ count: number }>(fleet.database.url(), statement);
      ended += row?.count ?? 0;
      await sleep(500);
    } while (performance.now() < (ended === 0 ? giveUpMs : untilMs));
  };
  const inflicted = await during(
    'ended backends',
    () => undefined,
    lasts,
    () => {
      if (ended === 0) throw new Error('There was no backend to end.');
      return `${ended} backends were ended`;
    },
  );
  return { ...inflicted, isOutage: true };
}

/** Cuts the connections of one process or all processes to PostgreSQL. The server's ends stay open or are closed. */
async function cut(fleet: Fleet, dice: Seeded, holdMs: number): Promise<Inflicted> {
  const all = [...fleet.wires];
  const victims = dice.next() < 0.5 ? all : [dice.pick(all)];
  const isServerGone = dice.next() < 0.5;
  const wires = victims.map(([, wire]) => wire);
  let withheld = -sum(wires);
  const fromMs = Date.now();
  const inflicted = await during(
    `silent cut of ${victims.length === 1 ? victims[0]?.[0] : 'all'}`,
    () => wires.forEach((wire) => wire.silence(isServerGone)),
    async () => {
      await sleep(holdMs);
      // Extends the fault until bytes are withheld. If another fault has paused the process, it sends nothing for a
      // while.
      await eventually(() => withheld + sum(wires) > 0, EFFECT_MS_MAX, 250);
    },
    () => {
      wires.forEach((wire) => wire.restore());
      withheld += sum(wires);
      if (withheld === 0) throw new Error('Nobody said anything into the cut wire.');
      return `${withheld} bytes went nowhere, the server's ends were ${isServerGone ? 'gone' : 'open'}`;
    },
  );
  const away = fleet.apis.filter(({ name }) => victims.some(([victim]) => victim === name)).map(({ url }) => url);
  return { ...inflicted, isOutage: victims.length > 1, away, disruptions: leaseCut(fromMs) };
}

async function slow(fleet: Fleet, holdMs: number): Promise<Inflicted> {
  const wires = [...fleet.wires.values()];
  let late = -wires.reduce((pieces, { delayedPieces }) => pieces + delayedPieces, 0);
  const inflicted = await during(
    'slow PostgreSQL',
    () => wires.forEach((wire) => wire.slowDown(ROUND_TRIP_MS / 2)),
    () => sleep(holdMs),
    () => {
      wires.forEach((wire) => wire.slowDown(0));
      late += wires.reduce((pieces, { delayedPieces }) => pieces + delayedPieces, 0);
      if (late === 0) throw new Error('Nothing came late.');
      return `${late} pieces came ${ROUND_TRIP_MS / 2} ms late`;
    },
  );
  return { ...inflicted, roundTripMs: ROUND_TRIP_MS };
}

async function fill(fleet: Fleet, holdMs: number): Promise<Inflicted> {
  const { disk } = fleet.database;
  if (!disk) throw new Error('There is no disk that could be filled.');
  let free = Infinity;
  const lasts = async (): Promise<void> => {
    const untilMs = performance.now() + holdMs;
    // Fills the disk again whenever PostgreSQL frees space during the fault.
    while (performance.now() < untilMs) {
      disk.fill();
      free = Math.min(free, disk.freeBytes());
      await sleep(200);
    }
  };
  const end = async (): Promise<string> => {
    disk.free();
    if (free > 0) throw new Error(`There were always ${free} bytes left.`);
    await eventually(() => answers(fleet), BACK_MS_MAX, 50);
    return 'not a byte was left';
  };
  return { ...(await during('full disk', () => undefined, lasts, end)), isOutage: true };
}

/** Kills the primary or shuts it down. The address that all processes use then leads to the standby. */
async function failOver(fleet: Fleet, dice: Seeded, holdMs: number): Promise<Inflicted> {
  const { pair } = fleet.database;
  if (!pair) throw new Error('There is no standby.');
  const wires = [...fleet.wires.values()];
  const isSilent = dice.next() < 0.5;
  const fromMs = Date.now();
  const end = async (): Promise<string> => {
    await pair.failOver();
    const port = Number(new URL(fleet.database.url()).port);
    wires.forEach((wire) => wire.restore(port));
    return `the standby has taken over ${isSilent ? 'from one that fell silent' : 'from one that was stopped'}`;
  };
  const begin = (): void => {
    if (isSilent) wires.forEach((wire) => wire.silence(true));
  };
  const inflicted = await during('failover', begin, () => sleep(isSilent ? holdMs : 0), end);
  return { ...inflicted, isOutage: true, disruptions: leaseCut(fromMs) };
}

function leaseCut(atMs: number): Disruption[] {
  return [{ kind: STORAGE_OUT_OF_REACH, atMs, cutsAttempts: true, cutUntilMs: atMs + LEASE_MS + LEASE_SLACK_MS }];
}

function isAnother(fleet: Fleet, before: number): boolean {
  try {
    return fleet.database.pid() !== before;
  } catch {
    return false;
  }
}

const answers = (fleet: Fleet): Promise<boolean> =>
  query(fleet.database.url(), 'select 1').then(
    () => true,
    () => false,
  );
const sum = (wires: readonly Wire[]): number => wires.reduce((bytes, { withheldBytes }) => bytes + withheldBytes, 0);
