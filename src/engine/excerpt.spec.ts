import * as fc from 'fast-check';
import { excerptOf, recordable } from './excerpt.js';

describe('excerptOf', () => {
  it.each([
    ['an empty answer', Buffer.alloc(0), ''],
    ['a short answer', Buffer.from('{"ok":true}'), '{"ok":true}'],
    ['exactly 1 KB', Buffer.alloc(1024, 'a'), 'a'.repeat(1024)],
    ['more than 1 KB', Buffer.alloc(5000, 'a'), 'a'.repeat(1024)],
    ['a two-byte character at the limit', Buffer.from('a'.repeat(1023) + 'é!'), 'a'.repeat(1023)],
    ['a four-byte character at the limit', Buffer.from('a'.repeat(1021) + '😀!'), 'a'.repeat(1021)],
    ['a character that ends at the limit', Buffer.from('a'.repeat(1020) + '😀!'), 'a'.repeat(1020) + '😀'],
    ['NUL', Buffer.from('a\0b'), 'ab'],
    ['invalid UTF-8', Buffer.from([0x61, 0xff, 0x62]), 'a\ufffdb'],
  ])('shows %s', (_what, body, expected) => {
    expect(excerptOf(body)).toBe(expected);
  });

  it('returns at most 1 KB of the bytes, without NUL and unpaired surrogates', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 3000 }), (bytes) => {
        const excerpt = excerptOf(Buffer.from(bytes));

        expect(excerpt.length).toBeLessThanOrEqual(1024);
        expect(excerpt).not.toContain('\0');
        expect(Buffer.from(excerpt).toString()).toBe(excerpt);
      }),
    );
  });

  it('returns a prefix of a text answer that lacks at most 3 bytes of the first 1 KB', () => {
    const tail = fc.array(fc.constantFrom('a', 'é', '€', '😀'), { minLength: 8, maxLength: 8 });

    fc.assert(
      fc.property(fc.nat({ max: 8 }), tail, (shift, characters) => {
        const text = 'a'.repeat(1016 + shift) + characters.join('');
        const excerpt = excerptOf(Buffer.from(text));

        expect(text.startsWith(excerpt)).toBe(true);
        expect(Buffer.byteLength(excerpt)).toBeGreaterThan(1024 - 4);
      }),
    );
  });
});

describe('recordable', () => {
  it.each([
    ['a sentence', 'MessageId 7', 'MessageId 7'],
    ['NUL', 'a\0b\0', 'ab'],
    ['half surrogate pairs', 'a\ud83db\ude00', 'a\ufffdb\ufffd'],
    ['whole ones', '😀', '😀'],
    ['exactly the maximum length', 'a'.repeat(1024), 'a'.repeat(1024)],
    ['3 MB', 'é'.repeat(3_000_000), 'é'.repeat(1024)],
    ['a surrogate pair at the limit', `${'a'.repeat(1023)}😀`, 'a'.repeat(1023)],
  ])('keeps the storable part of %s', (_what, text, expected) => {
    expect(recordable(text)).toBe(expected);
  });

  it('does not change results of excerptOf', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 3000 }), (bytes) => {
        const excerpt = excerptOf(Buffer.from(bytes));

        expect(recordable(excerpt)).toBe(excerpt);
      }),
    );
  });
});
