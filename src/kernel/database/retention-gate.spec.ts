import { Logger } from '@nestjs/common';
import type { SeenClock } from '../clock-leap.js';
import type { Metrics } from '../observability/metrics.js';
import { Readiness } from '../observability/readiness.js';
import { RetentionGate } from './retention-gate.js';
import type { ClockObservation } from './seen-clock.store.js';

const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;

class World {
  nowMs = 1_790_000_000_000;
  stopwatchMs = 0;
  writes = 0;
  row: SeenClock = { seenAtMs: this.nowMs, leaptFromMs: null, waitedMs: 0 };
  isAgreed = true;

  process(): { gate: RetentionGate; readiness: Readiness } {
    const readiness = new Readiness();
    const look = (): ClockObservation => ({ seen: { ...this.row }, nowMs: this.nowMs });
    const store = {
      read: async () => look(),
      change: async (next: (clockObservation: ClockObservation) => SeenClock) => {
        this.writes += 1;
        this.row = next(look());
        return look();
      },
    };
    const clock = { nowMs: () => this.nowMs, monotonicMs: () => this.stopwatchMs };
    const metrics = { gauge: () => undefined } as unknown as Metrics;
    return { gate: new RetentionGate(store, { isAgreed: () => this.isAgreed }, clock, readiness, metrics), readiness };
  }

  pass(ms: number): void {
    this.nowMs += ms;
    this.stopwatchMs += ms;
  }
}

describe('RetentionGate', () => {
  beforeAll(() => Logger.overrideLogger(false));
  afterAll(() => Logger.overrideLogger(true));

  it('is open while time passes normally, and writes at most once a minute, for any number of calls and processes', async () => {
    const world = new World();
    const processes = [world.process(), world.process(), world.process()];

    const answers: boolean[] = [];
    for (let second = 0; second < 600; second += 1) {
      world.pass(1_000);
      for (const { gate } of processes) answers.push(await gate.isOpen());
    }

    expect(new Set(answers)).toEqual(new Set([true]));
    expect(world.writes).toBe(10);
  });

  it('is closed for a measured day after a leap, across several processes and a restart, and reports how long', async () => {
    const world = new World();
    let [one, two] = [world.process(), world.process()];
    for (const { gate } of [one, two]) await gate.isOpen();
    world.nowMs += 40 * DAY_MS;

    expect(await one.gate.isOpen()).toBe(false);
    expect(await two.gate.isOpen()).toBe(false);
    for (let i = 0; i < 700; i += 1) {
      world.pass(MINUTE_MS);
      await one.gate.isOpen();
      await two.gate.isOpen();
    }
    [one, two] = [world.process(), world.process()];
    expect(await one.gate.isOpen()).toBe(false);
    expect(await two.gate.isOpen()).toBe(false);
    expect((await one.readiness.report()).parts['retention']).toEqual({
      ready: true,
      waiting: true,
      waiting_seconds: 740 * 60,
    });
    for (let i = 0; i < 739; i += 1) {
      world.pass(MINUTE_MS);
      await two.gate.isOpen();
    }
    expect(await one.gate.isOpen()).toBe(false);
    world.pass(MINUTE_MS);
    expect(await two.gate.isOpen()).toBe(true);
    expect(await one.gate.isOpen()).toBe(true);
    expect((await one.readiness.report()).parts['retention']).toEqual({ ready: true, waiting: false });
  });

  it('is open again after a confirmation', async () => {
    const world = new World();
    const { gate } = world.process();
    await gate.isOpen();
    world.nowMs += 40 * DAY_MS;
    expect(await gate.isOpen()).toBe(false);
    world.row = { seenAtMs: world.nowMs, leaptFromMs: null, waitedMs: 0 };

    expect(await gate.isOpen()).toBe(true);
  });

  it("is closed while this machine's clock differs from PostgreSQL's, and sends no query", async () => {
    const world = new World();
    const { gate } = world.process();
    world.isAgreed = false;
    world.nowMs += 40 * DAY_MS;

    expect(await gate.isOpen()).toBe(false);
    expect(world.row.leaptFromMs).toBeNull();
  });

  it('a process that ran while PostgreSQL was unavailable for a week has measured the week', async () => {
    const world = new World();
    const { gate } = world.process();
    await gate.isOpen();
    world.pass(7 * DAY_MS);

    expect(await gate.isOpen()).toBe(true);
  });
});
