import fc from 'fast-check';
import { growthOf, LINEAR } from '../../../test/support/cpu-time.js';
import { unicodeText } from '../../../test/support/unicode-text.js';
import { cleanLine, cleanText, safeFilename } from './clean-text.js';

const anything = fc
  .array(
    fc.oneof(unicodeText(), fc.constantFrom('\0', '\ud800', '\udc00', '../', '\u202e', '\r\n', '😀', '\\', '\u2028')),
  )
  .map((parts) => parts.join(''));
const isWellFormed = (text: string): boolean => Buffer.from(text).toString() === text;

describe('untrusted texts', () => {
  it('are valid for PostgreSQL and UTF-8, and within their maximum length', () => {
    fc.assert(
      fc.property(anything, fc.integer({ min: 4, max: 60 }), (text, max) => {
        for (const { text: clean, isTruncated } of [cleanText(text, max), cleanLine(text, max)]) {
          expect([isWellFormed(clean), clean.includes('\0'), Buffer.byteLength(clean) <= max]).toEqual([
            true,
            false,
            true,
          ]);
          if (!isTruncated) expect(clean.length).toBeLessThanOrEqual(text.length);
        }
        expect(cleanLine(text, max).text).not.toMatch(/[\r\n\u2028\u2029]/);
      }),
    );
  });

  it('a clean text is not changed', () => {
    expect(cleanText('Grüße 😀\r\n\tx', 100)).toEqual({ text: 'Grüße 😀\r\n\tx', isTruncated: false });
    expect(cleanText('😀😀', 5)).toEqual({ text: '😀', isTruncated: true });
  });

  it.each([
    ['../../etc/passwd', 'passwd'],
    ['C:\\Windows\\system.ini', 'system.ini'],
    ['..', null],
    ['', null],
    ['/', null],
    ['. . .', null],
    ['a\0b\r\nc.txt', 'a b c.txt'],
    ['invoice\u202efdp.exe', 'invoicefdp.exe'],
    ['a:b|c?.txt', 'a_b_c_.txt'],
    ['Rechnung März.pdf', 'Rechnung März.pdf'],
    ['.htaccess', 'htaccess'],
  ])('the file name %j becomes %j', (name, safe) => {
    expect(safeFilename(name)).toBe(safe);
  });

  it('a file name never contains a path, and keeps its extension', () => {
    fc.assert(
      fc.property(anything, (name) => {
        const safe = safeFilename(name);
        if (safe !== null)
          expect([/[/\\:]|^\.|\.$/.test(safe), Buffer.byteLength(safe) <= 255, isWellFormed(safe)]).toEqual([
            false,
            true,
            true,
          ]);
      }),
    );
    expect(safeFilename(`${'ä'.repeat(300)}.pdf`)).toMatch(/^ä+\.pdf$/);
  });

  it('250 KB of dots within a file name are read in linear time', async () => {
    const name = `a${'.'.repeat(250_000)}b. `;

    expect(safeFilename(name)).toMatch(/^a\.+b$/);
    expect(await growthOf(name, safeFilename)).toBeLessThan(LINEAR);
  });
});
