import { ApiError } from '#kernel/errors.js';
import { momentMs } from './moment.js';

describe('momentMs', () => {
  it.each([
    ['2016-12-31T23:59:59Z', 1_483_228_799_000],
    ['2017-01-01T01:00:00.250+01:00', 1_483_228_800_250],
  ])('%s', (text, ms) => {
    expect(momentMs(text, 'since')).toBe(ms);
  });

  // RFC 3339, section 5.8: both name the leap second of 2016.
  it.each(['2016-12-31T23:59:60Z', '2016-12-31T15:59:60-08:00'])('%s is refused', (text) => {
    expect(() => momentMs(text, 'since')).toThrow(ApiError);
  });
});
