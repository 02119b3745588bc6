import { durationMs } from './iso-duration.js';

describe('durationMs', () => {
  it.each([
    ['P7D', 604_800_000],
    ['P1W', 604_800_000],
    ['PT12H', 43_200_000],
    ['P1DT1H30M', 91_800_000],
    ['PT0M', 0],
  ])('%s is %i ms', (text, ms) => {
    expect(durationMs(text)).toBe(ms);
  });

  it.each(['', 'P', 'PT', 'P1DT', '7D', 'P1M', 'P1Y', 'P-1D', 'P1.5D', 'p1d', 'P1D ', 'PT1S', 'P99999D', 'P1W1D'])(
    '%j is no duration',
    (text) => {
      expect(durationMs(text)).toBeNull();
    },
  );
});
