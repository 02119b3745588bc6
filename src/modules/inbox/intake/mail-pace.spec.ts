import { jest } from '@jest/globals';
import { Clock } from '#kernel/clock.js';
import { LoadMonitor, type LoadSample } from '#kernel/concurrency/load-monitor.js';
import { MailPace } from './mail-pace.js';

class Hands extends Clock {
  ms = 1_000;
  override now = (): Date => new Date(this.ms);
  override nowMs = (): number => this.ms;
  override random = (): number => 0;
}

describe('MailPace', () => {
  function process(loadSample: LoadSample): { pace: MailPace; clock: Hands; look: (times: number) => void } {
    const clock = new Hands();
    const pace = new MailPace({ sampler: () => () => loadSample } as unknown as LoadMonitor, clock);
    const look = (times: number): void => {
      for (let n = 0; n < times; n += 1) {
        clock.ms += 100;
        pace.readable(96);
      }
    };
    return { pace, clock, look };
  }

  it('is unlimited without deliveries, and while the process has time for both', () => {
    for (const traffic of [
      { urgentPerSecond: 0, utilization: 1 },
      { urgentPerSecond: 500, utilization: 0.4 },
    ]) {
      const { pace, look } = process(traffic);
      look(20);
      expect(pace.figures()).toEqual({ taken: Infinity, read: Infinity });
    }
  });

  it('drops to a small part of the deliveries if they use all the time, for accepting and reading alike', () => {
    const { pace, look } = process({ urgentPerSecond: 2_000, utilization: 1 });
    look(30);
    expect(pace.figures()).toEqual({ taken: 10, read: 10 });
  });

  it('never reaches zero: a few messages a second pass under the highest load', () => {
    const { pace, look } = process({ urgentPerSecond: 20, utilization: 1 });
    look(30);
    expect(pace.figures()).toEqual({ taken: 4, read: 4 });
  });

  it('is unknown after a silence: a few messages pass, and the next sample decides about the others', async () => {
    jest.useFakeTimers();
    for (const { traffic, pace: found } of [
      { traffic: { urgentPerSecond: 2_000, utilization: 1 }, pace: 10 },
      { traffic: { urgentPerSecond: 2_000, utilization: 0.5 }, pace: Infinity },
    ]) {
      const { pace, clock } = process(traffic);
      clock.ms += 60_000;
      const turns = Array.from({ length: 30 }, () => pace.turn());
      const [entered, waits] = [turns.slice(0, 8), turns.slice(8)];
      expect(await Promise.all(entered)).toEqual(entered.map(() => true));
      let left = waits.length;
      for (const turn of waits) void turn.then(() => (left -= 1));
      expect([pace.readable(96), pace.isRoomy, pace.isPaced]).toEqual([8, false, false]);

      clock.ms += 100;
      await jest.advanceTimersByTimeAsync(100);

      expect(pace.figures()).toEqual({ taken: found, read: found });
      expect(left).toBe(found === Infinity ? 0 : waits.length);
    }
    jest.useRealTimers();
  });

  it('ends a silence also if the timer fires before the monotonic clock shows its delay', async () => {
    jest.useFakeTimers();
    const { pace, clock } = process({ urgentPerSecond: 0, utilization: 0 });
    clock.ms += 60_000;
    const turns = Array.from({ length: 30 }, () => pace.turn());

    clock.ms += 80;
    await jest.advanceTimersByTimeAsync(100);

    expect(await Promise.race([Promise.all(turns), jest.advanceTimersByTimeAsync(29_000)])).toEqual(
      turns.map(() => true),
    );
    jest.useRealTimers();
  });

  it('counts deliveries between two samples', () => {
    const load = new LoadMonitor();
    const view = load.sampler();
    for (let n = 0; n < 1_000; n += 1) load.recordDelivery();
    expect(view().urgentPerSecond).toBeGreaterThan(0);
    expect(view().urgentPerSecond).toBe(0);
  });
});
