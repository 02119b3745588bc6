import { type BackgroundLoad, backgroundRate } from './background-rate.js';

const seen = (change: Partial<BackgroundLoad> = {}): BackgroundLoad => ({
  urgentPerSecond: 1_000,
  utilization: 1,
  tookPerSecond: 400,
  ...change,
});

describe('the pace of what lets others pass', () => {
  it('is none while there is nobody to let pass, however busy the process is', () => {
    expect(backgroundRate(Infinity, seen({ urgentPerSecond: 0 }), 10)).toBe(Infinity);
  });

  it('doubles at each look once nobody is there any more, and is none within a second of looks', () => {
    let [pace, looks] = [backgroundRate(20, seen({ urgentPerSecond: 9 }), 10), 1];
    expect(pace).toBe(40);
    while (pace !== Infinity && looks < 100)
      [pace, looks] = [backgroundRate(pace, seen({ urgentPerSecond: 0 }), 10), looks + 1];
    expect([pace, looks]).toEqual([Infinity, 8]);
  });

  it('begins with half of what was done, and halves until the floor', () => {
    let pace = backgroundRate(Infinity, seen(), 10);
    expect(pace).toBe(200);
    for (let looks = 0; looks < 10; looks += 1) pace = backgroundRate(pace, seen({ tookPerSecond: pace }), 10);
    expect(pace).toBe(10);
  });

  it('stays where there is little room, and rises slowly where there is more, until it is none', () => {
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
