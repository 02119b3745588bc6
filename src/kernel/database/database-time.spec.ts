import { SystemClock } from '../clock.js';
import type { Metrics } from '../observability/metrics.js';
import { Readiness } from '../observability/readiness.js';
import type { Database } from './database.js';
import { DatabaseTime } from './database-time.js';
import type { TimeOfDatabase } from './notifications.js';

const HOUR_MS = 3_600_000;

/** A machine and a PostgreSQL server with separate wall clocks, and one monotonic clock for both. */
class Machine extends SystemClock {
  elapsedMs = 0;
  wallMs = 1_790_000_000_000;

  override monotonicMs(): number {
    return this.elapsedMs;
  }
  override nowMs(): number {
    return this.startedMs + this.elapsedMs;
  }
  override follow(epochMs: number, monotonicMs: number): void {
    this.startedMs = epochMs - monotonicMs;
  }
  override wallAheadMs(): number {
    return this.wallMs + this.elapsedMs - this.nowMs();
  }
  private startedMs = this.wallMs;
}

function arrange(machineAheadMs: number, wayMs = 2) {
  const machine = new Machine();
  const world = { databaseMs: machine.wallMs - machineAheadMs, wayMs, asked: 0 };
  let notify: (time: TimeOfDatabase) => void = () => undefined;
  const database = {
    query: async () => {
      world.asked += 1;
      machine.elapsedMs += world.wayMs;
      const ms = world.databaseMs + machine.elapsedMs;
      machine.elapsedMs += world.wayMs;
      return [{ ms }];
    },
  } as unknown as Database;
  const readiness = new Readiness();
  const time = new DatabaseTime(machine, database, readiness, { gauge: () => undefined } as unknown as Metrics, {
    onTime: (listener) => void (notify = listener),
  });
  const beat = (): void => {
    const askedMs = machine.elapsedMs;
    machine.elapsedMs += 2 * world.wayMs;
    notify({ ms: world.databaseMs + machine.elapsedMs - world.wayMs, askedMs, answeredMs: machine.elapsedMs });
  };
  const errorMs = (): number => machine.nowMs() - (world.databaseMs + machine.elapsedMs);
  return { machine, world, time, beat, errorMs, clockPart: async () => (await readiness.report()).parts.clock };
}

describe('DatabaseTime', () => {
  it.each([[2 * HOUR_MS], [-2 * HOUR_MS], [960 * HOUR_MS], [-960 * HOUR_MS], [61_000]])(
    'follows PostgreSQL on a machine that is %d ms ahead, and reports the error',
    async (aheadMs) => {
      const { time, errorMs, clockPart } = arrange(aheadMs);

      await time.look();

      expect(Math.abs(errorMs())).toBeLessThanOrEqual(25);
      expect(time.isAgreed()).toBe(false);
      expect(await clockPart()).toEqual({ ready: false, skew_ms: aheadMs });
    },
  );

  it('accepts a machine that is less than a minute off, and still follows PostgreSQL', async () => {
    const { time, errorMs, clockPart } = arrange(-59_000);

    await time.look();

    expect(Math.abs(errorMs())).toBeLessThanOrEqual(25);
    expect(time.isAgreed()).toBe(true);
    expect(await clockPart()).toEqual({ ready: true, skew_ms: -59_000 });
  });

  it("detects immediately when the machine's clock is set, and keeps the correct time", async () => {
    const { time, machine, errorMs } = arrange(0);
    await time.look();

    machine.wallMs -= 2 * HOUR_MS;

    expect(time.isAgreed()).toBe(false);
    await time.look();
    expect(Math.abs(errorMs())).toBeLessThanOrEqual(25);

    machine.wallMs += 2 * HOUR_MS;
    expect(time.isAgreed()).toBe(true);
  });

  it('ignores a response that took too long to be precise', async () => {
    const { time, machine, world } = arrange(0);
    await time.look();
    world.wayMs = 3_000;
    const before = machine.nowMs() - machine.elapsedMs;

    world.databaseMs += 1_500;
    await time.look();

    expect(machine.nowMs() - machine.elapsedMs).toBe(before);
  });

  it('uses the time in responses to heartbeats, and sends a query only after five seconds without one', async () => {
    const { time, machine, world, beat, errorMs } = arrange(2 * HOUR_MS);

    beat();
    expect(Math.abs(errorMs())).toBeLessThanOrEqual(25);
    expect(time.isAgreed()).toBe(false);

    expect((await time.turn()).restMs).toBe(5_000);
    machine.elapsedMs += 4_000;
    expect((await time.turn()).restMs).toBe(1_000);
    expect(world.asked).toBe(0);

    machine.elapsedMs += 1_000;
    expect((await time.turn()).restMs).toBe(5_000);
    expect(world.asked).toBe(1);
  });
});
