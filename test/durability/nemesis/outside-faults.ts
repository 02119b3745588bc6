import { setTimeout as sleep } from 'node:timers/promises';
import { eventually } from '../processes.js';
import type { Misbehaviour } from '../receiver.js';
import { during, EFFECT_MS_MAX, type FaultKind, type Inflicted } from './fault.js';
import type { Fleet } from './fleet.js';

const EVERYWHERE = ['postgres', 'redis', 'embedded'] as const;
/** Settings for a load of about a hundred messages per second on the misbehaving receiver. */
const CONCURRENCY = 4;
const PAUSE_MS = 30;
/**
 * Durations of a receiver's fault in seconds. All are shorter than half a minute, so that a circuit's first probe
 * succeeds.
 */
const RECEIVER_SECONDS = [6, 10, 25] as const;

/** Faults of Redis, name servers and receivers. */
export const OUTSIDE_FAULTS: readonly FaultKind[] = [
  { name: 'redis-flush', group: 'redis', fleets: ['redis'], seconds: [0, 0, 0], inflict: (fleet) => flush(fleet) },
  { name: 'redis-kill', group: 'redis', fleets: ['redis'], seconds: [0, 0, 0], inflict: (fleet) => killRedis(fleet) },
  {
    name: 'redis-cut',
    group: 'redis',
    fleets: ['redis'],
    seconds: [6, 10, 60],
    inflict: (fleet, dice, holdMs) => cutRedis(fleet, dice.next() < 0.5, holdMs),
  },
  {
    name: 'names-silent',
    group: 'names',
    fleets: EVERYWHERE,
    seconds: [6, 10, 60],
    inflict: (fleet, _dice, holdMs) => silentNames(fleet, holdMs),
  },
  ...(['hang', 'trickle', 'flap', 'reset'] as const).map((how): FaultKind => ({
    name: `receiver-${how}`,
    group: `receiver-${how}`,
    fleets: EVERYWHERE,
    seconds: RECEIVER_SECONDS,
    inflict: (fleet, _dice, holdMs) => misbehave(fleet, how, holdMs),
  })),
];

async function flush(fleet: Fleet): Promise<Inflicted> {
  return during(
    'FLUSHALL',
    () => redisOf(fleet).server.flushAll(),
    async () => undefined,
    () => 'Redis said OK',
  );
}

async function killRedis(fleet: Fleet): Promise<Inflicted> {
  return during(
    'kill -9 of Redis',
    () => redisOf(fleet).server.killAndRestart(),
    async () => undefined,
    () => 'another process answers',
  );
}

async function cutRedis(fleet: Fleet, isServerGone: boolean, holdMs: number): Promise<Inflicted> {
  const { wire } = redisOf(fleet);
  const before = wire.withheldBytes;
  const lasts = async (): Promise<void> => {
    await sleep(holdMs);
    // Extends the fault until bytes are withheld. If another fault has paused the process, it sends nothing for a
    // while.
    await eventually(() => wire.withheldBytes > before, EFFECT_MS_MAX, 250);
  };
  return during(
    'silent cut of Redis',
    () => wire.silence(isServerGone),
    lasts,
    () => {
      wire.restore();
      if (wire.withheldBytes === before) throw new Error('Nobody said anything into the cut wire.');
      return `${wire.withheldBytes - before} bytes went nowhere`;
    },
  );
}

/** Sends to many host names that never resolve, and to one that resolves, whose message must arrive. */
async function silentNames(fleet: Fleet, holdMs: number): Promise<Inflicted> {
  const [silent, named] = [fleet.silentlyNamed(), fleet.named()];
  const before = fleet.names.swallowed;
  const lost = fleet.load(CONCURRENCY, PAUSE_MS, silent);
  const heard = fleet.load(1, 100, [named]);
  fleet.delayedLoads.push(heard);
  const begin = (): void => {
    for (const load of [lost, heard]) load.start();
  };
  const lasts = async (): Promise<void> => {
    await sleep(holdMs);
    // Waits for a DNS query, because no worker resolves names while storage is also broken.
    await eventually(() => fleet.names.swallowed > before, EFFECT_MS_MAX, 250);
  };
  return during('silent name servers', begin, lasts, async () => {
    lost.abandon();
    await heard.stop();
    const swallowed = fleet.names.swallowed - before;
    if (swallowed === 0) throw new Error('The name server was not asked: do deliveries go by DNS_SERVERS?');
    return `${swallowed} questions were swallowed`;
  });
}

/** Makes a receiver misbehave, and sends messages to it during the whole fault. Returns the record of the fault. */
async function misbehave(fleet: Fleet, how: Misbehaviour, holdMs: number): Promise<Inflicted> {
  const { number, id } = await fleet.misbehaving(how);
  await fleet.circuitClosed(id);
  const { receiver } = fleet.scene;
  const load = fleet.load(CONCURRENCY, PAUSE_MS, [id]);
  fleet.delayedLoads.push(load);
  let before = 0;
  const begin = async (): Promise<void> => {
    before = await receiver.misbehave(number, how);
    load.start();
  };
  const lasts = async (): Promise<void> => {
    await sleep(holdMs);
    await eventually(async () => (await receiver.misbehave(number, how)) > before, EFFECT_MS_MAX, 250);
  };
  return during(`receiver: ${how}`, begin, lasts, async () => {
    const count = (await receiver.misbehave(number, null)) - before;
    await load.stop();
    if (count === 0) throw new Error('The receiver was not sent anything.');
    return `${count} requests were treated so`;
  });
}

function redisOf({ redis }: Fleet): NonNullable<Fleet['redis']> {
  if (!redis) throw new Error('This fleet has no Redis.');
  return redis;
}
