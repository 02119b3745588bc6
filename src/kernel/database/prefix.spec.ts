import { prefixPattern } from './prefix.js';

describe('prefixPattern', () => {
  it.each([
    ['Acme', 'acme%'],
    ['100%', '100\\%%'],
    ['a_b', 'a\\_b%'],
    ['C:\\x', 'c:\\\\x%'],
    ['', '%'],
  ])('%s → %s', (text, pattern) => expect(prefixPattern(text)).toBe(pattern));
});
