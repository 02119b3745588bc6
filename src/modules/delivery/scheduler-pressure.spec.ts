import { initialWindow, onStart, setCeiling } from '#engine/concurrency-window.js';
import { unanswered } from '#engine/pressure.js';
import { FairShare } from './fair-share.js';
import { type Pressed, SchedulerPressure } from './scheduler-pressure.js';

/**
 * Environments 1 and 2 belong to one organization, environment 3 to another. `utilization` is the utilization of the
 * event loop.
 */
async function arrange({ utilization = 1 } = {}) {
  const felt = { nowMs: 1_000, utilization };
  const shares = new FairShare<unknown>(async (environmentId) => (environmentId < 3 ? 'one' : 'other'));
  const pressure = new SchedulerPressure(shares, { nowMs: () => felt.nowMs, utilization: () => felt.utilization });
  for (const environmentId of [1, 2, 3]) shares.hold(environmentId, 1);
  await Promise.resolve();
  await Promise.resolve();
  const target = ({
    environmentId = 1,
    waiting = 0,
    running = 0,
    concurrency = null as number | null,
  } = {}): Pressed => {
    const made: Pressed = {
      environmentId,
      window: initialWindow(),
      waiting: { first: { length: waiting } },
      answering: unanswered(),
      ready: 0,
      isHeldBack: false,
    };
    setCeiling(made.window, concurrency);
    for (let i = 0; i < running; i += 1) onStart(made.window);
    pressure.recount(made);
    return made;
  };
  const answers = (each: Pressed, count: number, tookMs = 20, isSuccess = true): void => {
    for (let i = 0; i < count; i += 1) pressure.answered(each, tookMs, isSuccess);
    pressure.recount(each);
  };
  return { felt, pressure, shares, target, answers };
}

const FULL = 32;

describe('SchedulerPressure', () => {
  it("counts what the environment's targets would accept now, and nothing of other environments, even of the same organization", async () => {
    const { pressure, target } = await arrange();
    target({ waiting: 30, running: FULL - 1 });
    target({ waiting: 40 });
    target({ environmentId: 2, waiting: 5 });
    target({ environmentId: 3, waiting: 1 });

    expect(pressure.forEnvironment(1)).toEqual({ ready: 70, drainPerSecond: 0 });
    expect(pressure.forEnvironment(2)).toEqual({ ready: 5, drainPerSecond: 0 });
    expect(pressure.forEnvironment(3)).toEqual({ ready: 1, drainPerSecond: 0 });
  });

  it('is null while the process has idle time: deliveries then wait for receivers', async () => {
    const { pressure, target, felt } = await arrange({ utilization: 0.84 });
    target({ waiting: 1_000 });
    expect(pressure.forEnvironment(1)).toBeNull();

    felt.utilization = 0.86;
    felt.nowMs += 100;

    expect(pressure.forEnvironment(1)?.ready).toBe(1_000);
  });

  it.each([
    ['has never answered', { running: FULL }, 0, 20, true, 0],
    ['answers quickly', { running: FULL }, 10, 20, true, 500],
    ['responds after a second', { running: FULL }, 10, 1_000, true, 0],
    ['fails', { running: FULL }, 10, 20, false, 0],
    ['is limited by its owner', { running: 5, concurrency: 5 }, 10, 20, true, 0],
  ])(
    'counts the ready deliveries of a target with a full window that %s',
    async (_what, its, count, tookMs, isSuccess, ready) => {
      const { pressure, target, answers } = await arrange();
      answers(target({ waiting: 500, ...its }), count, tookMs, isSuccess);

      expect(pressure.forEnvironment(1)?.ready ?? 0).toBe(ready);
    },
  );

  it("is null while receivers occupy the environment's slots for more than a second each", async () => {
    const { pressure, shares, target, answers } = await arrange();
    const own = target({ waiting: 100 });
    target({ environmentId: 3, waiting: 100 });
    target({ environmentId: 2, waiting: 100 });
    shares.run(1, 1_024);
    answers(own, 511);
    expect([pressure.forEnvironment(1), pressure.forEnvironment(2)?.ready, pressure.forEnvironment(3)?.ready]).toEqual([
      null,
      100,
      100,
    ]);

    answers(own, 1);

    expect(pressure.forEnvironment(1)?.ready).toBe(100);
  });

  it('stops counting a target that no longer responds, without any event of that target', async () => {
    const { pressure, target, answers, felt } = await arrange();
    answers(target({ waiting: 500, running: FULL }), 10);
    expect(pressure.forEnvironment(1)?.ready).toBe(500);

    felt.nowMs += 600;

    expect(pressure.forEnvironment(1)).toBeNull();
  });

  it('is null when nothing is waiting any more', async () => {
    const { pressure, target } = await arrange();
    const its = target({ waiting: 10 });

    its.waiting = { first: { length: 0 } };
    pressure.recount(its);

    expect(pressure.forEnvironment(1)).toBeNull();
  });

  it("returns the environment's own delivery rate", async () => {
    const { pressure, target, answers, felt } = await arrange();
    const own = target({ waiting: 10 });
    const others = target({ environmentId: 3, waiting: 10 });
    for (let i = 0; i < 200; i += 1) {
      felt.nowMs += 10;
      answers(own, 10);
      answers(others, 1);
    }

    expect(pressure.forEnvironment(1)?.drainPerSecond).toBeCloseTo(1_000, -2);
    expect(pressure.forEnvironment(3)?.drainPerSecond).toBeCloseTo(100, -1);
  });
});
