import { stepsOf } from './schedule';

describe('stepsOf', () => {
  it('sums up the waits, and repeats the last one', () => {
    expect(stepsOf({ schedule: [0, 5, 300], max_attempts: 4 })).toEqual([
      { attempt: 1, waitSeconds: 0, afterSeconds: 0 },
      { attempt: 2, waitSeconds: 5, afterSeconds: 5 },
      { attempt: 3, waitSeconds: 300, afterSeconds: 305 },
      { attempt: 4, waitSeconds: 300, afterSeconds: 605 },
    ]);
  });

  it('ends after the maximum number of attempts, even before the end of the schedule', () => {
    expect(stepsOf({ schedule: [0, 5, 300], max_attempts: 1 })).toHaveLength(1);
    expect(stepsOf({ schedule: [], max_attempts: 2 }).map(({ afterSeconds }) => afterSeconds)).toEqual([0, 0]);
  });
});
