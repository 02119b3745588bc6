import { secondsLeft } from './seconds-left';

describe('secondsLeft', () => {
  it.each([
    [4_000, 5],
    [5_000, 5],
    [5_001, 5],
    [6_000, 4],
    [9_999, 1],
    [10_000, 0],
    [60_000, 0],
  ])('of 5 s that end at 10,000 ms, %i ms: %i s', (nowMs, left) => {
    expect(secondsLeft(5, 10_000, nowMs)).toBe(left);
  });
});
