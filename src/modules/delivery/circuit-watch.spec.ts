import { Logger } from '@nestjs/common';
import { type Circuit, CLOSED } from '#engine/circuit.js';
import type { Clock } from '#kernel/clock.js';
import type { Notifications } from '#kernel/database/notifications.js';
import type { CircuitChange, TargetCircuit } from '#modules/destinations/contract.js';
import { CircuitWatch } from './circuit-watch.js';

beforeAll(() => Logger.overrideLogger(false));
afterAll(() => Logger.overrideLogger(true));

const THRESHOLD = 3;
const PROBE_AFTER_MS = 30_000;

/** The table that all workers share, in memory. */
class Table {
  readonly circuits = new Map<string, Circuit>();
  /** Circuits that were changed, and calls that changed some. */
  changes = 0;
  calls = 0;
  isMoreToForget = false;
  isDeaf = false;
  private readonly listeners: ((key: string) => void)[] = [];

  readonly contract = {
    troubled: async (): Promise<TargetCircuit[]> =>
      [...this.circuits].map(([targetId, circuit]) => ({ environmentId: 1, targetId, circuit })),
    findAll: async (): Promise<Map<string, Circuit>> => new Map(this.circuits),
    these: async (targets: readonly { targetId: string }[]) =>
      targets.map(({ targetId }) => this.circuits.get(targetId) ?? CLOSED),
    forget: async () => this.isMoreToForget,
    changeAll: async (changes: readonly CircuitChange[]) => {
      this.calls += 1;
      return changes.map(({ environmentId, targetId, change }) => this.turn(environmentId, targetId, change));
    },
    change: async (environmentId: number, targetId: string, change: (circuit: Circuit) => Circuit) =>
      this.turn(environmentId, targetId, change),
  };

  /** Tells the workers that changes may have been missed. */
  missed(): void {
    for (const tell of this.listeners) tell('*');
  }

  private turn(environmentId: number, targetId: string, change: (circuit: Circuit) => Circuit): Circuit {
    this.changes += 1;
    const before = this.circuits.get(targetId) ?? CLOSED;
    const next = change(before);
    if (next.state === 'closed' && next.consecutiveFailures === 0) this.circuits.delete(targetId);
    else this.circuits.set(targetId, next);
    const isFailing = before.state === 'closed' && next.state === 'closed' && this.circuits.has(targetId);
    for (const tell of this.listeners) tell(`${environmentId}:${targetId}${isFailing ? ':failing' : ''}`);
    return next;
  }

  readonly notifications = {
    on: (_topic: string, listener: (key: string) => void) => void this.listeners.push(listener),
    isDeaf: () => this.isDeaf,
  } as unknown as Notifications;
}

/** Lets what was announced be read, of which there is a group every twentieth of a second. */
async function settle(): Promise<void> {
  for (let i = 0; i < 4; i += 1) await new Promise((resolve) => setTimeout(resolve, 30));
}

const started: CircuitWatch[] = [];

afterEach(async () => {
  for (const watch of started.splice(0)) await watch.onApplicationShutdown();
});

async function arrange() {
  const time = { nowMs: 1_763_690_000_000 };
  const table = new Table();
  const clock = { nowMs: () => time.nowMs, now: () => new Date(time.nowMs) } as unknown as Clock;
  const worker = async () => {
    const watch = new CircuitWatch(table.contract, clock, table.notifications);
    const opened: string[] = [];
    watch.onOpen((environmentId, targetId) => opened.push(`${environmentId} ${targetId}`));
    await watch.onApplicationBootstrap();
    started.push(watch);
    return { watch, opened };
  };
  const fail = async (watch: CircuitWatch, times: number): Promise<void> => {
    for (let i = 0; i < times; i += 1) await watch.count(1, 'a', 'failed', THRESHOLD);
  };
  /** Opens the circuit and closes it again by a probe that succeeds. */
  const recover = async (watch: CircuitWatch): Promise<void> => {
    await fail(watch, THRESHOLD);
    time.nowMs += PROBE_AFTER_MS;
    await watch.takeProbe(1, 'a');
    await watch.count(1, 'a', 'success', THRESHOLD);
  };
  return { ...(await worker()), worker, time, table, fail, recover };
}

describe('CircuitWatch', () => {
  it('knows a target as closed until as many hard failures in a row as its threshold', async () => {
    const { watch, opened, fail } = await arrange();

    await fail(watch, THRESHOLD - 1);
    expect(watch.isClosed(1, 'a')).toBe(true);
    await fail(watch, 1);

    expect(watch.isClosed(1, 'a')).toBe(false);
    expect(watch.isClosed(1, 'b')).toBe(true);
    expect(watch.isClosed(2, 'a')).toBe(true);
    expect(opened).toEqual(['1 a']);
    expect(watch.openCount()).toBe(1);
  });

  it('starts to count anew after a success', async () => {
    const { watch, fail } = await arrange();

    await fail(watch, THRESHOLD - 1);
    await watch.count(1, 'a', 'success', THRESHOLD);
    await fail(watch, THRESHOLD - 1);

    expect(watch.isClosed(1, 'a')).toBe(true);
  });

  it('touches storage for no success of a healthy target, and for nothing that does not count', async () => {
    const { watch, table } = await arrange();

    for (const outcome of ['success', 'throttled', 'gone'] as const) await watch.count(1, 'a', outcome, THRESHOLD);

    expect(table.changes).toBe(0);
  });

  it('tells of an opening once, however many late failures follow', async () => {
    const { watch, opened, fail } = await arrange();

    await fail(watch, THRESHOLD + 5);
    await settle();

    expect(opened).toEqual(['1 a']);
  });

  it('learns from an announcement what another worker found out', async () => {
    const { watch, opened, worker, fail } = await arrange();
    const other = await worker();

    await fail(watch, THRESHOLD);
    await settle();

    expect(other.watch.isClosed(1, 'a')).toBe(false);
    expect(other.opened).toEqual(['1 a']);
    expect(opened).toEqual(['1 a']);
  });

  it('counts failures of all workers together', async () => {
    const { watch, worker, fail } = await arrange();
    const other = await worker();

    await fail(watch, THRESHOLD - 1);
    await settle();
    await fail(other.watch, 1);
    await settle();

    expect(watch.isClosed(1, 'a')).toBe(false);
  });

  it('knows from its start what is open', async () => {
    const { watch, worker, fail } = await arrange();
    await fail(watch, THRESHOLD);

    const later = await worker();

    expect(later.watch.isClosed(1, 'a')).toBe(false);
    expect(later.opened).toEqual(['1 a']);
  });

  it('probes 30 s after the opening, by one worker alone', async () => {
    const { watch, worker, time, fail } = await arrange();
    const other = await worker();
    await fail(watch, THRESHOLD);
    await settle();

    time.nowMs += PROBE_AFTER_MS - 1;
    expect(watch.probeIsDue(1, 'a')).toBe(false);
    expect(await watch.takeProbe(1, 'a')).toBe(false);
    time.nowMs += 1;
    expect(other.watch.probeIsDue(1, 'a')).toBe(true);

    expect(await Promise.all([watch.takeProbe(1, 'a'), other.watch.takeProbe(1, 'a')])).toEqual([true, false]);
    expect(watch.isClosed(1, 'a')).toBe(false);
    expect(watch.probeIsDue(1, 'a')).toBe(false);
  });

  it('lets another worker probe 20 s later when the prober says nothing', async () => {
    const { watch, worker, time, fail } = await arrange();
    const other = await worker();
    await fail(watch, THRESHOLD);
    time.nowMs += PROBE_AFTER_MS;
    await watch.takeProbe(1, 'a');
    await settle();

    time.nowMs += 19_999;
    expect(other.watch.probeIsDue(1, 'a')).toBe(false);
    time.nowMs += 1;

    expect(await other.watch.takeProbe(1, 'a')).toBe(true);
  });

  it('needs no probe of a target that is closed', async () => {
    const { watch } = await arrange();

    expect(watch.probeIsDue(1, 'a')).toBe(false);
    expect(await watch.takeProbe(1, 'a')).toBe(false);
  });

  it('closes with a probe that succeeds, and stays shut after one that fails without opening a second time', async () => {
    const { watch, opened, time, fail } = await arrange();
    await fail(watch, THRESHOLD);
    time.nowMs += PROBE_AFTER_MS;
    await watch.takeProbe(1, 'a');
    await fail(watch, 1);
    await settle();
    expect(watch.isClosed(1, 'a')).toBe(false);
    expect(opened).toEqual(['1 a']);

    time.nowMs += 60_000;
    expect(await watch.takeProbe(1, 'a')).toBe(true);
    await watch.count(1, 'a', 'success', THRESHOLD);

    expect(watch.isClosed(1, 'a')).toBe(true);
    expect(watch.openCount()).toBe(0);
  });

  it('tells again when a target that came back opens again', async () => {
    const { watch, opened, fail, recover } = await arrange();
    await recover(watch);

    await fail(watch, THRESHOLD);

    expect(opened).toEqual(['1 a', '1 a']);
  });

  it('drains a target that came back at 20 a second, doubling every second up to 2000, for a minute', async () => {
    const { watch, time, recover } = await arrange();
    expect(watch.drainPerSecond(1, 'a')).toBeNull();
    await recover(watch);

    const rates = Array.from({ length: 10 }, () => {
      const rate = watch.drainPerSecond(1, 'a');
      time.nowMs += 1_000;
      return rate;
    });
    expect(rates).toEqual([20, 40, 80, 160, 320, 640, 1_280, 2_000, 2_000, 2_000]);
    time.nowMs += 49_000;
    expect(watch.drainPerSecond(1, 'a')).toBe(2_000);
    time.nowMs += 1_000;
    watch.drainPerSecond(1, 'a');

    expect(watch.drainPerSecond(1, 'a')).toBeNull();
  });

  it('drains as carefully where the closing was only heard of', async () => {
    const { watch, worker, recover, time, fail } = await arrange();
    const other = await worker();
    await fail(watch, THRESHOLD);
    await settle();
    await recover(watch);
    await settle();

    expect(other.watch.isClosed(1, 'a')).toBe(true);
    time.nowMs += 1_000;
    expect(other.watch.drainPerSecond(1, 'a')).toBe(40);
  });

  it('counts the drain anew after a second outage', async () => {
    const { watch, time, recover } = await arrange();
    await recover(watch);
    time.nowMs += 40_000;

    await recover(watch);

    expect(watch.drainPerSecond(1, 'a')).toBe(20);
  });
});

describe('what failing targets cost storage', () => {
  it('is one change of a target, however many of its attempts end while one is under way; all of them are counted', async () => {
    const { table, watch, opened } = await arrange();
    const waiting: (() => void)[] = [];
    const { changeAll } = table.contract;
    table.contract.changeAll = async (changes) => {
      await new Promise<void>((resolve) => waiting.push(resolve));
      return changeAll(changes);
    };

    const counted = Array.from({ length: 100 }, async (_, i) =>
      watch.count(1, 'a', i < 98 && i % 2 === 1 ? 'success' : 'failed', 1_000),
    );
    let done = false;
    void Promise.all(counted).then(() => (done = true));
    while (!done) {
      expect(waiting.length).toBeLessThanOrEqual(1);
      waiting.shift()?.();
      await settle();
    }

    expect(table.changes).toBeLessThanOrEqual(2);
    expect(table.circuits.get('a')?.consecutiveFailures).toBe(2);
    expect(opened).toEqual([]);
  });

  it('is a call or two for as many targets as fail at a time', async () => {
    const { table, watch } = await arrange();

    await Promise.all(Array.from({ length: 500 }, async (_, i) => watch.count(1, `target ${i}`, 'failed', THRESHOLD)));

    expect(table.circuits.size).toBe(500);
    expect(table.calls).toBeLessThanOrEqual(2);
  });

  it('reads what is heard of, all at once, and not every circuit that there is', async () => {
    const { table, worker, watch } = await arrange();
    const other = await worker();
    await settle();
    const reads: number[] = [];
    const { these } = table.contract;
    table.contract.these = async (targets) => (reads.push(targets.length), these(targets));
    table.contract.troubled = () => Promise.reject(new Error('Everything was read.'));

    await Promise.all(Array.from({ length: 500 }, async (_, i) => watch.count(1, `target ${i}`, 'failed', 1)));
    await settle();

    expect(other.watch.openCount()).toBe(500);
    expect(reads.length).toBeLessThanOrEqual(6);
  });

  it('reads nothing of targets that failed and are not shut; the success of any worker resets them', async () => {
    const { table, worker, watch } = await arrange();
    const other = await worker();
    table.contract.these = () => Promise.reject(new Error('It was read.'));
    table.contract.troubled = () => Promise.reject(new Error('Everything was read.'));
    await watch.count(1, 'a', 'failed', THRESHOLD);
    await settle();

    await other.watch.count(1, 'a', 'success', THRESHOLD);

    expect(table.circuits.size).toBe(0);
  });

  it('goes on knowing what failed longer ago than is read, so that the next success resets it', async () => {
    const { table, watch, fail } = await arrange();
    await fail(watch, THRESHOLD - 1);
    table.contract.troubled = async () => [];
    table.missed();
    await settle();

    await watch.count(1, 'a', 'success', THRESHOLD);

    expect(table.circuits.size).toBe(0);
  });

  it('reads again sooner while more is to be forgotten, or changes are not heard', async () => {
    const { table, watch } = await arrange();

    expect(await watch.refresh()).toEqual({ restMs: 15_000 });
    table.isMoreToForget = true;
    expect(await watch.refresh()).toEqual({ restMs: 5_000 });
    table.isMoreToForget = false;
    table.isDeaf = true;
    expect(await watch.refresh()).toEqual({ restMs: 5_000 });
  });
});
