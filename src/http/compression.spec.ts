import { encodingFor } from './compression.js';

describe('encodingFor', () => {
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
  ])('%s → %s', (accepted, encoding) => expect(encodingFor(accepted)).toBe(encoding));
});
