import type { Disruption } from './checker.js';
import type { KeptProcess } from './processes.js';
import { Seeded } from './random.js';
import type { Sender } from './sender.js';
import { type Blow, emptyQueueTables, type KillablePostgres } from './storage.js';

export type FaultKind = 'worker' | 'api' | 'postgres' | 'tree' | 'queue emptied';

/** A fault to inject when `afterAccepted` more messages have been accepted since the previous fault. */
export interface Fault {
  kind: FaultKind;
  afterAccepted: number;
  /** Selects one of several victims. A number from 0 to below 1. */
  choice: number;
}

/** The processes and services that can be broken. */
export interface Victims {
  workers: readonly KeptProcess[];
  apis: readonly KeptProcess[];
  postgres: KillablePostgres;
}

/** Kinds of kills, in a sequence that is repeated. After every four kills, the test waits for an empty queue. */
const KILLS: readonly FaultKind[] = ['worker', 'api', 'postgres', 'tree', 'worker', 'api', 'worker'];
const KILLS_PER_EMPTIED_QUEUE = 4;
const BLOWS: readonly Blow[] = ['everything', 'postmaster', 'backend'];
/**
 * The last faults kill only PostgreSQL. The processes of the service keep running, so they must recover without a
 * restart.
 */
const LAST: readonly Blow[] = ['backend', 'postmaster', 'everything', 'everything'];

/** Returns `kills` planned faults, spread over `messages` messages. The seed chooses their order, times and victims. */
export function plan(seed: number, kills: number, messages: number): Fault[] {
  const random = new Seeded(seed);
  const mixed = kills - LAST.length;
  const kinds = Array.from({ length: mixed }, (_, i): FaultKind => KILLS[i % KILLS.length] as FaultKind);
  const emptied = Array.from({ length: Math.ceil(mixed / KILLS_PER_EMPTIED_QUEUE) }, (): FaultKind => 'queue emptied');
  const faults = random.shuffled([...kinds, ...emptied]).map((kind) => ({ kind, choice: random.next() }));
  faults.push(
    ...LAST.map((blow) => ({ kind: 'postgres' as const, choice: (BLOWS.indexOf(blow) + 0.5) / BLOWS.length })),
  );
  const mean = messages / (faults.length + 1);
  return faults.map((fault) => ({ ...fault, afterAccepted: Math.ceil(mean * (0.5 + random.next())) }));
}

/** Injects the faults in sequence under load. Returns them with their times. */
export async function disrupt(faults: readonly Fault[], victims: Victims, load: Sender): Promise<Disruption[]> {
  const done: Disruption[] = [];
  for (const fault of faults) {
    await Promise.race([load.reached(load.accepted + fault.afterAccepted), load.ended()]);
    if (load.refusals.length > 0) break;
    done.push(await inflict(fault, victims));
  }
  return done;
}

async function inflict({ kind, choice }: Fault, { workers, apis, postgres }: Victims): Promise<Disruption> {
  switch (kind) {
    case 'worker':
    case 'api': {
      const victim = among(kind === 'worker' ? workers : apis, choice);
      await victim.up();
      victim.kill();
      return { kind, atMs: Date.now(), cutsAttempts: workers.includes(victim) };
    }
    case 'postgres': {
      await postgres.back();
      const strike = await postgres.aim(among(BLOWS, choice));
      strike();
      return { kind, atMs: Date.now(), cutsAttempts: false };
    }
    case 'tree': {
      await postgres.back();
      const strike = await postgres.aim('everything');
      for (const victim of new Set([...workers, ...apis])) victim.kill();
      strike();
      return { kind, atMs: Date.now(), cutsAttempts: true };
    }
    case 'queue emptied':
      await postgres.back();
      await emptyQueueTables(postgres.url);
      return { kind, atMs: Date.now(), cutsAttempts: false };
  }
}

const among = <T>(from: readonly T[], choice: number): T => from[Math.floor(choice * from.length)] as T;
