import { momentMs, queriedMs } from './moment.js';

describe.each([
  ['of a body', momentMs, 'validation_failed'],
  ['of a query', queriedMs, 'bad_request'],
])('a moment %s', (_where, read, type) => {
  it.each([
    ['2016-12-31T23:59:59Z', 1_483_228_799_000],
    ['2017-01-01T01:00:00.250+01:00', 1_483_228_800_250],
  ])('%s', (text, ms) => {
    expect(read(text, 'since')).toBe(ms);
  });

  // RFC 3339, section 5.8: both texts are the leap second of 2016.
  it.each(['2016-12-31T23:59:60Z', '2016-12-31T15:59:60-08:00'])('%s is refused', (text) => {
    expect(() => read(text, 'since')).toThrow(
      expect.objectContaining({
        type,
        message: expect.stringMatching(/^since:? must be a time without a leap second/),
      }),
    );
  });
});
