import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Disruption } from '../checker.js';
import { type KeptProcess, LAST_WORDS_CHARACTERS } from '../processes.js';
import { during, type FaultKind, type Inflicted } from './fault.js';
import type { Fleet } from './fleet.js';

const MEMBERS = ['postgres', 'redis', 'embedded', 'mail'] as const;
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

/** Faults of single processes: `kill -9`, pauses, rolling restarts, and wrong clocks. */
export const PROCESS_FAULTS: readonly FaultKind[] = [
  {
    name: 'kill-api',
    group: 'processes',
    fleets: ['postgres', 'redis'],
    seconds: [0, 0, 0],
    inflict: (fleet, dice) => kill(fleet, dice.pick(fleet.apis)),
  },
  {
    name: 'kill-worker',
    group: 'processes',
    fleets: MEMBERS,
    seconds: [0, 0, 0],
    inflict: (fleet, dice) => kill(fleet, dice.pick(fleet.workers)),
  },
  {
    name: 'pause-api',
    group: 'processes',
    fleets: ['postgres', 'redis'],
    seconds: [4, 20, 60],
    inflict: (fleet, dice, holdMs) => pause(fleet, dice.pick(fleet.apis), holdMs),
  },
  {
    // The pause exceeds the lease of ten seconds, so other workers take over the deliveries.
    name: 'pause-worker',
    group: 'processes',
    fleets: MEMBERS,
    seconds: [13, 20, 60],
    inflict: (fleet, dice, holdMs) => pause(fleet, dice.pick(fleet.workers), holdMs),
  },
  {
    name: 'rolling',
    group: 'processes',
    fleets: ['postgres', 'redis', 'mail'],
    seconds: [0, 0, 0],
    isSeamless: true,
    inflict: (fleet) => roll(fleet),
  },
  clock('clock+2h', 2 * HOUR_MS),
  clock('clock-2h', -2 * HOUR_MS),
  clock('clock+40d', 40 * DAY_MS),
  clock('clock-40d', -40 * DAY_MS),
];

/**
 * Kills a process and returns the record of the fault. The service stays available if another process has the same role
 * or all roles.
 */
async function kill(fleet: Fleet, victim: KeptProcess): Promise<Inflicted> {
  await victim.up();
  if (fleet.workers.includes(victim)) await fleet.burst();
  const { pid } = victim;
  const cuts: Disruption[] = [];
  const inflicted = await during(
    `kill of ${victim.name}`,
    () => {
      victim.kill();
      cuts.push(...cutNow(fleet, victim));
    },
    async () => (fleet.kind === 'embedded' ? victim.up() : undefined),
    () => `${victim.name} had process ${pid}`,
  );
  return { ...inflicted, disruptions: cuts, away: away(fleet, victim) };
}

async function pause(fleet: Fleet, victim: KeptProcess, holdMs: number): Promise<Inflicted> {
  await victim.up();
  if (fleet.workers.includes(victim)) await fleet.burst();
  let goOn = (): void => undefined;
  let cuts: Disruption[] = [];
  let state = '';
  let pid = 0;
  const begin = (): void => {
    cuts = cutNow(fleet, victim);
    pid = victim.pid;
    goOn = victim.pause();
  };
  const lasts = async (): Promise<void> => {
    await sleep(holdMs);
    // If another fault has killed the process in the meantime, its state cannot be read. It was paused (T) until the
    // kill.
    state = victim.pid === pid ? stateOf(pid) : 'T';
  };
  const inflicted = await during(`pause of ${victim.name}`, begin, lasts, () => {
    goOn();
    if (process.platform === 'linux' && state !== 'T')
      throw new Error(`${victim.name} did not stand still, its state was ${state}.`);
    return `${victim.name} stood still for ${holdMs} ms`;
  });
  return { ...inflicted, disruptions: cuts, away: away(fleet, victim) };
}

/** Restarts the processes in sequence. A process that cannot finish exits at the end of its drain time. */
async function roll(fleet: Fleet): Promise<Inflicted> {
  const ends: (number | string)[] = [];
  const words: string[] = [];
  const cuts: Disruption[] = [];
  const turns: { url: string; fromMs: number; toMs: number }[] = [];
  const inflicted = await during(
    'rolling SIGTERM',
    () => undefined,
    async () => {
      for (const member of fleet.members) {
        const fromMs = Date.now();
        const wasUp = member.isUp;
        const end = await member.terminate();
        // A process that is still starting does not handle signals yet, and exits at once.
        ends.push(end === 'SIGTERM' && !wasUp ? 0 : end);
        if (end === 1) words.push(`${member.name}: ${member.log().slice(-LAST_WORDS_CHARACTERS)}`);
        if (end === 'SIGKILL') cuts.push(...cutNow(fleet, member));
        await member.start();
        await fleet.balancer.sees(member.url);
        turns.push({ url: member.url, fromMs, toMs: Date.now() });
      }
    },
    () => {
      if (ends.some((end) => end !== 0 && end !== 'SIGKILL'))
        throw new Error(`SIGTERM ended processes with ${ends.join(', ')}. ${words.join('\n')}`);
      return `${ends.length} processes were stopped and started`;
    },
  );
  return { ...inflicted, disruptions: cuts, turns, undrained: ends.filter((end) => end === 'SIGKILL').length };
}

/** Returns a fault that gives one process a wrong clock and finally corrects it. */
function clock(name: string, shiftMs: number): FaultKind {
  return {
    name,
    group: 'clocks',
    fleets: ['postgres', 'embedded', 'mail'],
    seconds: [6, 20, 60],
    inflict: async (fleet, dice, holdMs) => {
      const victim = dice.pick(fleet.members);
      const own = fleet.clocks.get(victim.name);
      if (!own) throw new Error(`${victim.name} has no clock.`);
      // A large shift begins at a start of the process, because cleanup jobs run at the start and then every hour.
      const isFromStart = Math.abs(shiftMs) >= DAY_MS || dice.next() < 0.5;
      const cuts: Disruption[] = [];
      await victim.up();
      const begin = async (): Promise<void> => {
        own.shift(shiftMs);
        if (isFromStart) {
          victim.kill();
          cuts.push(...cutNow(fleet, victim));
          await victim.up();
        }
        await own.seen(shiftMs);
      };
      const end = async (): Promise<string> => {
        own.shift(0);
        await own.seen(0);
        return `${victim.name} went by a clock ${shiftMs / HOUR_MS} h off${isFromStart ? ' from its start on' : ''}`;
      };
      const inflicted = await during(`${name} of ${victim.name}`, begin, () => sleep(holdMs), end);
      return { ...inflicted, disruptions: cuts, away: away(fleet, victim) };
    },
  };
}

function cutNow(fleet: Fleet, victim: KeptProcess): Disruption[] {
  return fleet.workers.includes(victim) ? [{ kind: victim.name, atMs: Date.now(), cutsAttempts: true }] : [];
}

function away(fleet: Fleet, victim: KeptProcess): string[] {
  return fleet.apis.includes(victim) ? [victim.url] : [];
}

/** Returns the process state; T means stopped. */
function stateOf(pid: number): string {
  if (process.platform !== 'linux') return '';
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  return stat.slice(stat.lastIndexOf(')') + 2)[0] ?? '';
}
