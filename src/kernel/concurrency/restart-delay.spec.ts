import { failuresAfter, restartDelayMs } from './restart-delay.js';

describe('restartDelayMs', () => {
  it('is 0 for the first death in a long time, doubles from 50 ms on, and stays at 5 s', () => {
    expect([0, 1, 2, 3, 7, 8, 50, 5_000].map(restartDelayMs)).toEqual([0, 50, 100, 200, 3200, 5000, 5000, 5000]);
  });
});

describe('failuresAfter', () => {
  it('counts deaths within half a minute of a start, and resets for a process that lived longer', () => {
    expect([failuresAfter(0, 100), failuresAfter(4, 29_999), failuresAfter(4, 30_000)]).toEqual([1, 5, 0]);
  });
});
