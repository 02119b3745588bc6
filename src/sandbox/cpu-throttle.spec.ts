import { CpuThrottle, cpuThrottleFor, SHARE, USED } from './cpu-throttle.js';

function arrange(share: number) {
  const cells = new Int32Array(new SharedArrayBuffer(8));
  cells[SHARE] = share;
  const thread = { nowMs: 0, usedMs: 0, waits: [] as number[], duringWait: (): void => undefined };
  const wait = (_share: number, ms: number): void => {
    thread.waits.push(ms);
    thread.nowMs += ms;
    thread.duringWait();
  };
  const cpuThrottle = new CpuThrottle(cells, { usedMs: () => thread.usedMs, nowMs: () => thread.nowMs, wait });
  const run = (ms: number): void => {
    for (let ran = 0; ran < ms; ran += 1) {
      thread.nowMs += 1;
      thread.usedMs += 1;
      cpuThrottle.look();
    }
  };
  return { cells, thread, run };
}

describe('CpuThrottle', () => {
  it('does not sleep with an unlimited share, and records the used CPU time', () => {
    const { cells, thread, run } = arrange(0);
    run(100);
    expect(thread.waits).toEqual([]);
    expect(cells[USED]).toBe(100_000);
  });

  it.each([
    [500, 200],
    [100, 1_000],
    [25, 4_000],
    [1_000, 100],
  ])('keeps a share of %d thousandths: 100 ms of CPU time take %d ms', (share, tookMs) => {
    const { thread, run } = arrange(share);
    run(100);
    expect(thread.nowMs).toBeCloseTo(tookMs, 5);
    expect(thread.usedMs).toBe(100);
  });

  it('checks the share every 100 ms, and continues at once when it becomes unlimited', () => {
    const { cells, thread, run } = arrange(1);
    thread.duringWait = () => (cells[SHARE] = 0);
    run(100);
    expect(thread.waits).toEqual([100]);
    expect(thread.nowMs).toBe(200);
  });

  it('makes up for sleeps that ended early because the share changed', () => {
    const { cells, thread, run } = arrange(100);
    thread.duringWait = () => {
      if (cells[SHARE] === 100) thread.nowMs -= 30;
      cells[SHARE] = 200;
    };
    run(4);
    expect(thread.waits).toEqual([36, 30]);
  });

  it('is off if CPU time is not available: sleeping would count as use and end the call', () => {
    const cells = new Int32Array(new SharedArrayBuffer(8));
    expect([
      cpuThrottleFor(cells, null, () => 0),
      cpuThrottleFor(cells, '0', () => 0),
      cpuThrottleFor(null, null, () => 0),
    ]).toEqual([null, null, null]);
  });

  it('counts CPU time, not wall-clock time: waiting for other threads causes no debt', () => {
    const { cells, thread, run } = arrange(500);
    thread.nowMs += 1_000;
    run(1);
    expect(thread.waits).toEqual([1]);
    expect(cells[USED]).toBe(1_000);
  });
});
