import { preferredCoding } from './content-coding.js';

describe('preferredCoding', () => {
  it.each([
    [undefined, null],
    ['', null],
    ['gzip', 'gzip'],
    ['x-gzip', 'gzip'],
    ['gzip, deflate, br', 'br'],
    ['GZIP;q=1.0, br;q=0.5', 'gzip'],
    ['br;q=0, gzip', 'gzip'],
    ['gzip;q=0', null],
    ['*', 'br'],
    ['*;q=0', null],
    ['br;q=0, *', 'gzip'],
    ['identity', null],
    ['identity;q=1, gzip;q=0.5', null],
    ['deflate, zstd', null],
    ['gzip;q=nonsense', null],
  ])('%s → %s', (accepted, encoding) => expect(preferredCoding(accepted)).toBe(encoding));

  it.each([
    ['gzip;q=0.5, br;q=0', 'gzip'],
    ['BR', 'br'],
    ['deflate', null],
  ] as const)('%s → %s', (accepted, coding) => expect(preferredCoding(accepted)).toBe(coding));

  it('returns only an offered coding', () => {
    expect(preferredCoding('br', [])).toBeNull();
    expect(preferredCoding('br, gzip;q=0.5', ['gzip'])).toBe('gzip');
  });
});
