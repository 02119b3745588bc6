import { Clock } from '#kernel/clock.js';
import type { LoadMonitor, LoadSample } from '#kernel/concurrency/load-monitor.js';
import { CpuBudget } from './cpu-budget.js';
import { SHARE, USED } from './cpu-throttle.js';

class Hands extends Clock {
  ms = 1_000;
  override now = (): Date => new Date(this.ms);
  override nowMs = (): number => this.ms;
  override random = (): number => 0;
  override monotonicMs = (): number => this.ms;
}

const CROWDED: LoadSample = { urgentPerSecond: 2_000, utilization: 0.95 };

describe('CpuBudget', () => {
  let pace: CpuBudget;

  afterEach(() => pace.onApplicationShutdown());

  function arrange(loadSample: LoadSample) {
    const clock = new Hands();
    const now = { loadSample };
    pace = new CpuBudget({ sampler: () => () => now.loadSample } as unknown as LoadMonitor, clock);
    const look = (times: number, usedMsPerSecond: number): void => {
      for (let n = 0; n < times; n += 1) {
        clock.ms += 100;
        Atomics.add(pace.cells, USED, usedMsPerSecond * 100);
        pace.look();
      }
    };
    return { look, now };
  }

  it('has no limit without deliveries, and none if there is CPU for both', () => {
    for (const traffic of [
      { urgentPerSecond: 0, utilization: 1 },
      { urgentPerSecond: 2_000, utilization: 0.4 },
    ]) {
      const { look } = arrange(traffic);
      pace.onStart();
      look(20, 900);
      expect([pace.pace, pace.cells[SHARE]]).toEqual([Infinity, 0]);
      pace.onEnd();
    }
  });

  it('halves the used CPU time under load, down to a twentieth of a second, shared by all threads', () => {
    const { look } = arrange(CROWDED);
    pace.onStart();
    look(1, 800);
    expect([pace.pace, pace.cells[SHARE]]).toEqual([400, 400]);
    look(10, 100);
    expect([pace.pace, pace.cells[SHARE]]).toEqual([50, 50]);
    pace.onStart();
    expect(pace.cells[SHARE]).toBe(25);
    pace.onEnd();
    expect(pace.cells[SHARE]).toBe(50);
  });

  it('has no limit soon after the load has gone, and later calls start with the last limit', () => {
    const { look, now } = arrange(CROWDED);
    pace.onStart();
    look(10, 100);
    pace.onEnd();
    expect(pace.pace).toBe(Infinity);
    pace.onStart();
    expect(pace.cells[SHARE]).toBe(50);

    now.loadSample = { urgentPerSecond: 0, utilization: 0.1 };
    look(1, 50);
    expect(pace.cells[SHARE]).toBe(100);
    look(6, 50);

    expect([pace.pace, pace.cells[SHARE]]).toEqual([Infinity, 0]);
  });

  it("handles a wraparound of the threads' counter", () => {
    const { look } = arrange(CROWDED);
    Atomics.store(pace.cells, USED, 2 ** 31 - 10_000);
    pace.onStart();
    look(1, 800);
    expect(pace.pace).toBe(400);
  });
});
