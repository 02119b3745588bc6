import { base32, fromBase32 } from './base32.js';

describe('base32', () => {
  // Test vectors of RFC 4648, section 10, in lower case and without padding.
  it.each([
    ['', ''],
    ['f', 'my'],
    ['fo', 'mzxq'],
    ['foo', 'mzxw6'],
    ['foob', 'mzxw6yq'],
    ['fooba', 'mzxw6ytb'],
    ['foobar', 'mzxw6ytboi'],
  ])('"%s" is "%s", and back', (text, coded) => {
    expect(base32(Buffer.from(text))).toBe(coded);
    expect(fromBase32(coded).toString()).toBe(text);
  });
});
