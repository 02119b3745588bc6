import { Logger } from '@nestjs/common';
import { type Circuit, CLOSED } from '#engine/circuit.js';
import type { Clock } from '#kernel/clock.js';
import type { Notifications } from '#kernel/database/notifications.js';
import type { CircuitsStore } from '#modules/destinations/circuits.store.js';
import type { CircuitChange, TargetCircuit } from '#modules/destinations/contract.js';
import { CircuitWatch } from './circuit-watch.js';

beforeAll(() => Logger.overrideLogger(false));
afterAll(() => Logger.overrideLogger(true));

const THRESHOLD = 3;
const PROBE_AFTER_MS = 30_000;

class Table {
  readonly circuits = new Map<string, Circuit>();
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

  missed(): void {
    for (const listener of this.listeners) listener('*');
  }

  private turn(environmentId: number, targetId: string, change: (circuit: Circuit) => Circuit): Circuit {
    this.changes += 1;
    const before = this.circuits.get(targetId) ?? CLOSED;
    const next = change(before);
    if (next.state === 'closed' && next.consecutiveFailures === 0) this.circuits.delete(targetId);
    else this.circuits.set(targetId, next);
    const isFailing = before.state === 'closed' && next.state === 'closed' && this.circuits.has(targetId);
    for (const listener of this.listeners) listener(`${environmentId}:${targetId}${isFailing ? ':failing' : ''}`);
    return next;
  }

  readonly notifications = {
    on: (_topic: string, listener: (key: string) => void) => void this.listeners.push(listener),
    isDeaf: () => this.isDeaf,
  } as unknown as Notifications;
}

/** Waits until all announced circuit changes have been read. The changes are read in batches. */
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
    const watch = new CircuitWatch(table.contract as unknown as CircuitsStore, clock, table.notifications);
    const opened: string[] = [];
    watch.onOpen((environmentId, targetId) => opened.push(`${environmentId} ${targetId}`));
    await watch.onApplicationBootstrap();
    started.push(watch);
    return { watch, opened };
  };
  const fail = async (watch: CircuitWatch, times: number): Promise<void> => {
    for (let i = 0; i < times; i += 1) await watch.count(1, 'a', 'failed', THRESHOLD);
  };
  const recover = async (watch: CircuitWatch): Promise<void> => {
    await fail(watch, THRESHOLD);
    time.nowMs += PROBE_AFTER_MS;
    await watch.takeProbe(1, 'a');
    await watch.count(1, 'a', 'success', THRESHOLD);
  };
  return { ...(await worker()), worker, time, table, fail, recover };
}

describe('CircuitWatch', () => {
  it('reports a target as closed until its threshold of consecutive hard failures is reached', async () => {
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

  it('restarts the count of failures after a success', async () => {
    const { watch, fail } = await arrange();

    await fail(watch, THRESHOLD - 1);
    await watch.count(1, 'a', 'success', THRESHOLD);
    await fail(watch, THRESHOLD - 1);

    expect(watch.isClosed(1, 'a')).toBe(true);
  });

  it('does not access storage for successes of a healthy target or for outcomes that do not count', async () => {
    const { watch, table } = await arrange();

    for (const outcome of ['success', 'throttled', 'gone'] as const) await watch.count(1, 'a', outcome, THRESHOLD);

    expect(table.changes).toBe(0);
  });

  it('notifies listeners of an opening once, even if more failures follow', async () => {
    const { watch, opened, fail } = await arrange();

    await fail(watch, THRESHOLD + 5);
    await settle();

    expect(opened).toEqual(['1 a']);
  });

  it('applies a change that another worker announced', async () => {
    const { watch, opened, worker, fail } = await arrange();
    const other = await worker();

    await fail(watch, THRESHOLD);
    await settle();

    expect(other.watch.isClosed(1, 'a')).toBe(false);
    expect(other.opened).toEqual(['1 a']);
    expect(opened).toEqual(['1 a']);
  });

  it('adds up the failures of all workers', async () => {
    const { watch, worker, fail } = await arrange();
    const other = await worker();

    await fail(watch, THRESHOLD - 1);
    await settle();
    await fail(other.watch, 1);
    await settle();

    expect(watch.isClosed(1, 'a')).toBe(false);
  });

  it('loads open circuits at startup', async () => {
    const { watch, worker, fail } = await arrange();
    await fail(watch, THRESHOLD);

    const later = await worker();

    expect(later.watch.isClosed(1, 'a')).toBe(false);
    expect(later.opened).toEqual(['1 a']);
  });

  it('probes 30 s after the opening, from one worker only', async () => {
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

  it('lets another worker probe after 20 s if the first prober does not report', async () => {
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

  it('does not probe a closed target', async () => {
    const { watch } = await arrange();

    expect(watch.probeIsDue(1, 'a')).toBe(false);
    expect(await watch.takeProbe(1, 'a')).toBe(false);
  });

  it('closes after a successful probe, and stays open after a failed one without a second opening', async () => {
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

  it('notifies listeners again when a recovered target opens again', async () => {
    const { watch, opened, fail, recover } = await arrange();
    await recover(watch);

    await fail(watch, THRESHOLD);

    expect(opened).toEqual(['1 a', '1 a']);
  });

  it('drains a recovered target at 20 per second, doubling every second up to 2000, for one minute', async () => {
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

  it('also limits the drain on a worker that received the closing as a notification', async () => {
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

  it('restarts the drain after a second outage', async () => {
    const { watch, time, recover } = await arrange();
    await recover(watch);
    time.nowMs += 40_000;

    await recover(watch);

    expect(watch.drainPerSecond(1, 'a')).toBe(20);
  });
});

describe('cost of failing targets in storage', () => {
  it('makes one change per target for all attempts that end during a write, and counts each of them', async () => {
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

  it('uses one or two calls, however many targets fail at the same time', async () => {
    const { table, watch } = await arrange();

    await Promise.all(Array.from({ length: 500 }, async (_, i) => watch.count(1, `target ${i}`, 'failed', THRESHOLD)));

    expect(table.circuits.size).toBe(500);
    expect(table.calls).toBeLessThanOrEqual(2);
  });

  it('reads all announced circuits in one call, and no others', async () => {
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

  it('reads no closed targets with failures; a success on any worker resets them', async () => {
    const { table, worker, watch } = await arrange();
    const other = await worker();
    table.contract.these = () => Promise.reject(new Error('It was read.'));
    table.contract.troubled = () => Promise.reject(new Error('Everything was read.'));
    await watch.count(1, 'a', 'failed', THRESHOLD);
    await settle();

    await other.watch.count(1, 'a', 'success', THRESHOLD);

    expect(table.circuits.size).toBe(0);
  });

  it('remembers failures that are too old to be read, so that the next success resets them', async () => {
    const { table, watch, fail } = await arrange();
    await fail(watch, THRESHOLD - 1);
    table.contract.troubled = async () => [];
    table.missed();
    await settle();

    await watch.count(1, 'a', 'success', THRESHOLD);

    expect(table.circuits.size).toBe(0);
  });

  it('reads again sooner while expired circuits remain, or while notifications are unavailable', async () => {
    const { table, watch } = await arrange();

    expect(await watch.refresh()).toEqual({ restMs: 15_000 });
    table.isMoreToForget = true;
    expect(await watch.refresh()).toEqual({ restMs: 5_000 });
    table.isMoreToForget = false;
    table.isDeaf = true;
    expect(await watch.refresh()).toEqual({ restMs: 5_000 });
  });
});
