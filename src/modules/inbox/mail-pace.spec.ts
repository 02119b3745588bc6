import { Clock } from '#kernel/clock.js';
import { RightOfWay, type Traffic } from '#kernel/right-of-way.js';
import { MailPace } from './mail-pace.js';

class Hands extends Clock {
  ms = 1_000;
  override now = (): Date => new Date(this.ms);
  override nowMs = (): number => this.ms;
  override random = (): number => 0;
}

describe('the pace of mail', () => {
  /** A process in which this happens, looked at so often. */
  function process(traffic: Traffic): { pace: MailPace; look: (times: number) => void } {
    const clock = new Hands();
    const pace = new MailPace({ view: () => () => traffic } as unknown as RightOfWay, clock);
    const look = (times: number): void => {
      for (let n = 0; n < times; n += 1) {
        clock.ms += 100;
        pace.readable(96);
      }
    };
    return { pace, look };
  }

  it('is none without deliveries, and none where the process has time for both', () => {
    for (const traffic of [{ urgentPerSecond: 0, utilization: 1 }, { urgentPerSecond: 500, utilization: 0.4 }]) {
      const { pace, look } = process(traffic);
      look(20);
      expect(pace.figures()).toEqual({ taken: Infinity, read: Infinity });
    }
  });

  it('becomes a small part of the deliveries where they have all the time, for taking and reading alike', () => {
    const { pace, look } = process({ urgentPerSecond: 2_000, utilization: 1 });
    look(30);
    expect(pace.figures()).toEqual({ taken: 10, read: 10 });
  });

  it('never ends: a few messages a second pass in the greatest crowd', () => {
    const { pace, look } = process({ urgentPerSecond: 20, utilization: 1 });
    look(30);
    expect(pace.figures()).toEqual({ taken: 4, read: 4 });
  });

  it('counts deliveries from one look to the next', () => {
    const rightOfWay = new RightOfWay();
    const view = rightOfWay.view();
    for (let n = 0; n < 1_000; n += 1) rightOfWay.deliveryBegins();
    expect(view().urgentPerSecond).toBeGreaterThan(0);
    expect(view().urgentPerSecond).toBe(0);
  });
});
