import { isFromOurPages } from './own-origin.guard.js';

const OURS = 'https://hooks.example.com';

describe('isFromOurPages', () => {
  it.each<[Record<string, string>, boolean]>([
    [{ origin: OURS, 'sec-fetch-site': 'same-origin' }, true],
    [{ origin: OURS }, true],
    [{ origin: 'http://10.0.0.7:3000' }, true],
    [{}, true],
    [{ origin: 'https://evil.example' }, false],
    [{ origin: 'null' }, false],
    [{ origin: 'https://hooks.example.com.evil.example' }, false],
    [{ origin: OURS, 'sec-fetch-site': 'cross-site' }, false],
    [{ origin: OURS, 'sec-fetch-site': 'same-site' }, false],
    [{ 'sec-fetch-site': 'none' }, false],
  ])('%j: %s', (headers, isOurs) => {
    expect(isFromOurPages({ headers, host: '10.0.0.7:3000' }, OURS)).toBe(isOurs);
  });
});
