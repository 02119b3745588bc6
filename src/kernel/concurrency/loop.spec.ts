import { jest } from '@jest/globals';
import { Logger } from '@nestjs/common';
import { HOUSEKEEPING, Loop, type LoopDelay } from './loop.js';

beforeEach(() => {
  jest.useFakeTimers();
  Logger.overrideLogger(false);
});

afterEach(() => {
  jest.useRealTimers();
  Logger.overrideLogger(true);
});

function arrange(turn: () => Promise<LoopDelay> = async () => ({ restMs: 1_000 })) {
  const seen = { turns: 0, nowMs: 5_000 };
  const loop = new Loop(
    'Test',
    () => {
      seen.turns += 1;
      return turn();
    },
    () => seen.nowMs,
  );
  return { loop, seen };
}

const pass = (ms: number): Promise<void> => jest.advanceTimersByTimeAsync(ms);

describe('Loop', () => {
  it('starts its first turn immediately and then rests as each turn requests', async () => {
    const rests = [100, 2_000];
    const { loop, seen } = arrange(async () => ({ restMs: rests.shift() ?? 60_000 }));

    loop.start();
    await pass(0);
    expect(seen.turns).toBe(1);
    await pass(99);
    expect(seen.turns).toBe(1);
    await pass(1);
    expect(seen.turns).toBe(2);
    await pass(2_000);
    expect(seen.turns).toBe(3);
    await loop.stop();
  });

  it('is one loop however often it is started', async () => {
    const { loop, seen } = arrange();

    loop.start();
    loop.start();
    await pass(2_500);

    expect(seen.turns).toBe(3);
    await loop.stop();
  });

  it('continues after any failure, with pauses that double up to five seconds and start over after a successful run', async () => {
    const startedAtMs: number[] = [];
    let works = false;
    const { loop } = arrange(async () => {
      startedAtMs.push(Date.now());
      if (works) return { restMs: 10 };
      throw new Error('no');
    });

    loop.start();
    await pass(20_000);
    works = true;
    await pass(5_000);
    works = false;
    startedAtMs.splice(0, startedAtMs.length - 1);
    await pass(250);
    const rests = startedAtMs.slice(1).map((ms, i) => ms - (startedAtMs[i] as number));

    expect(rests).toEqual([10, 100]);
    await loop.stop();
  });

  it('rests 100, 200, 400, … and at most 5000 ms between failures', async () => {
    const startedAtMs: number[] = [];
    const { loop } = arrange(async () => {
      startedAtMs.push(Date.now());
      throw new Error('no');
    });

    loop.start();
    await pass(25_000);
    const rests = startedAtMs.slice(1).map((ms, i) => ms - (startedAtMs[i] as number));

    expect(rests.slice(0, 8)).toEqual([100, 200, 400, 800, 1_600, 3_200, 5_000, 5_000]);
    await loop.stop();
  });

  it('survives a thrown value that is not an Error, and a throw before the first await', async () => {
    const failures = [
      (): Promise<LoopDelay> => Promise.reject('text'),
      (): Promise<LoopDelay> => {
        throw new Error('at once');
      },
    ];
    const { loop, seen } = arrange(() => (failures.shift() ?? (async () => ({ restMs: 60_000 })))());

    loop.start();
    await pass(300);

    expect(seen.turns).toBe(3);
    await loop.stop();
  });

  it('reports when the last successful turn ended, ignoring failed ones', async () => {
    let works = true;
    const { loop, seen } = arrange(async () => {
      if (!works) throw new Error('no');
      return { restMs: 1_000 };
    });

    expect(loop.lastTurnAtMs).toBeNull();
    loop.start();
    await pass(0);
    expect(loop.lastTurnAtMs).toBe(5_000);
    works = false;
    seen.nowMs = 9_000;
    await pass(1_000);

    expect(loop.lastTurnAtMs).toBe(5_000);
    await loop.stop();
  });

  it('starts the next turn immediately when it is woken while it rests', async () => {
    const { loop, seen } = arrange(async () => ({ restMs: 60_000 }));

    loop.start();
    await pass(0);
    loop.wake();
    loop.wake();
    await pass(0);

    expect(seen.turns).toBe(2);
    await loop.stop();
  });

  it('runs one more turn directly after the current one when it is woken meanwhile, however often', async () => {
    let finish: () => void = () => undefined;
    const { loop, seen } = arrange(() => new Promise((resolve) => (finish = () => resolve({ restMs: 60_000 }))));

    loop.start();
    await pass(0);
    loop.wake();
    loop.wake();
    await pass(1_000);
    expect(seen.turns).toBe(1);
    finish();
    await pass(0);
    expect(seen.turns).toBe(2);
    finish();
    await pass(1_000);

    expect(seen.turns).toBe(2);
    await loop.stop();
  });

  it('stops once the running turn has ended, and starts no other', async () => {
    let finish: () => void = () => undefined;
    const { loop, seen } = arrange(() => new Promise((resolve) => (finish = () => resolve({ restMs: 0 }))));
    loop.start();
    await pass(0);

    let stopped = false;
    const stopping = loop.stop().then(() => (stopped = true));
    await pass(10_000);
    expect(stopped).toBe(false);
    finish();
    await stopping;
    loop.wake();
    await pass(10_000);

    expect(seen.turns).toBe(1);
  });

  it('starts no turn when it is stopped while it rests, or woken before it is started', async () => {
    const { loop, seen } = arrange();

    loop.wake();
    await pass(1_000);
    loop.start();
    await loop.stop();
    await pass(10_000);

    expect(seen.turns).toBe(0);
  });

  it('can be started again', async () => {
    const { loop, seen } = arrange();
    loop.start();
    await pass(0);
    await loop.stop();

    loop.start();
    await pass(0);

    expect(seen.turns).toBe(2);
    await loop.stop();
  });

  it('abandons a turn that does not end, and starts the next one', async () => {
    let hangs = true;
    const { loop, seen } = arrange(() =>
      hangs ? new Promise<LoopDelay>(() => undefined) : Promise.resolve({ restMs: 60_000 }),
    );

    loop.start();
    await pass(74_000);
    expect(seen.turns).toBe(1);
    hangs = false;
    await pass(2_000);

    expect(seen.turns).toBe(2);
    expect(loop.lastTurnAtMs).not.toBeNull();
    await loop.stop();
  });

  it('is late if a successful turn is overdue by half a minute, and no longer after one', async () => {
    let works = true;
    const { loop } = arrange(async () => {
      if (!works) throw new Error('no');
      return { restMs: 10_000 };
    });

    loop.start();
    await pass(10_000);
    works = false;
    await pass(39_000);
    const before = loop.isLate();
    await pass(2_000);
    const after = loop.isLate();
    works = true;
    await pass(6_000);

    expect([before, after, loop.isLate(), loop.overdueMs()]).toEqual([false, true, false, 0]);
    await loop.stop();
  });

  it('is due when it is woken, however long it would have rested: a turn that hangs is overdue from then on', async () => {
    let works = true;
    const { loop } = arrange(() => (works ? Promise.resolve({ restMs: 60_000 }) : new Promise(() => undefined)));
    loop.start();
    await pass(1_000);
    works = false;

    loop.wake();
    await pass(29_000);
    const before = loop.isLate();
    await pass(2_000);

    expect([before, loop.isLate()]).toEqual([false, true]);
    void loop.stop();
    await pass(80_000);
  });

  it('is never late if it is housekeeping, or once it is stopped', async () => {
    const failing = (): Promise<LoopDelay> => Promise.reject(new Error('no'));
    const housekeeping = new Loop('Test', failing, () => 0, HOUSEKEEPING);
    const stopped = arrange(failing).loop;

    housekeeping.start();
    stopped.start();
    await pass(100_000);
    const isRunning = [...Loop.running()].includes(stopped);
    await stopped.stop();

    expect([housekeeping.isLate(), isRunning, stopped.isLate(), [...Loop.running()].includes(stopped)]).toEqual([
      false,
      true,
      false,
      false,
    ]);
    await housekeeping.stop();
  });
});
