import { stepsOf } from './schedule-steps';

const shown = (...given: Parameters<typeof stepsOf>): string =>
  stepsOf(...given)
    .map(({ number, state, seconds }) => `${number}${{ made: '+', next: '>', ahead: '' }[state]}:${seconds}`)
    .join(' ');

describe('stepsOf', () => {
  it.each([
    [{ max_attempts: 4, schedule: [0, 5, 300] }, 0, true, '1>:0 2:5 3:300 4:300'],
    [{ max_attempts: 4, schedule: [0, 5, 300] }, 2, true, '1+:0 2+:5 3>:300 4:300'],
    [{ max_attempts: 2, schedule: [0, 5] }, 2, false, '1+:0 2+:5'],
    [{ max_attempts: 1, schedule: [] }, 2, true, '1+:0 2+:0'],
    [
      { max_attempts: 30, schedule: [0] },
      20,
      true,
      '15+:0 16+:0 17+:0 18+:0 19+:0 20+:0 21>:0 22:0 23:0 24:0 25:0 26:0',
    ],
    [
      { max_attempts: 30, schedule: [0] },
      29,
      true,
      '19+:0 20+:0 21+:0 22+:0 23+:0 24+:0 25+:0 26+:0 27+:0 28+:0 29+:0 30>:0',
    ],
  ])('%j after %i attempts', (retry, made, goesOn, expected) => {
    expect(shown(retry, made, goesOn)).toBe(expected);
  });
});
