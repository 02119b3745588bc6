import { type BackgroundLoad, backgroundRate } from './background-rate.js';

const seen = (change: Partial<BackgroundLoad> = {}): BackgroundLoad => ({
  urgentPerSecond: 1_000,
  utilization: 1,
  tookPerSecond: 400,
  ...change,
});

describe('backgroundRate', () => {
  it('is unlimited without foreground work, however busy the process is', () => {
    expect(backgroundRate(Infinity, seen({ urgentPerSecond: 0 }), 10)).toBe(Infinity);
  });

  it('doubles with each measurement without foreground work, and is unlimited within a second', () => {
    let [pace, looks] = [backgroundRate(20, seen({ urgentPerSecond: 9 }), 10), 1];
    expect(pace).toBe(40);
    while (pace !== Infinity && looks < 100)
      [pace, looks] = [backgroundRate(pace, seen({ urgentPerSecond: 0 }), 10), looks + 1];
    expect([pace, looks]).toEqual([Infinity, 8]);
  });

  it('starts with half of the background work that was done, and halves down to the floor', () => {
    let pace = backgroundRate(Infinity, seen(), 10);
    expect(pace).toBe(200);
    for (let looks = 0; looks < 10; looks += 1) pace = backgroundRate(pace, seen({ tookPerSecond: pace }), 10);
    expect(pace).toBe(10);
  });

  it('stays constant at high load, and rises slowly at lower load until it is unlimited', () => {
    expect(backgroundRate(100, seen({ utilization: 0.7 }), 10)).toBe(100);
    expect(backgroundRate(100, seen({ utilization: 0.3 }), 10)).toBeCloseTo(111);
    let pace = 10;
    let looks = 0;
    while (pace !== Infinity && looks < 200)
      [pace, looks] = [backgroundRate(pace, seen({ utilization: 0.3 }), 10), looks + 1];
    expect(pace).toBe(Infinity);
    expect(looks).toBeGreaterThan(20);
  });
});
