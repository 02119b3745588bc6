import { base64Of, hexRow, textOf } from './text-of';

describe('textOf', () => {
  it.each([
    [Buffer.from('\uFEFFgrün \u202E'), '\uFEFFgrün \u202E'],
    [Buffer.from([0x7b, 0xff, 0x7d]), null],
    [Buffer.from([0xc0, 0x80]), null],
    [Buffer.from([0xed, 0xa0, 0x80]), null],
    [Buffer.alloc(0), ''],
  ])('%j', (bytes, expected) => {
    expect(textOf(bytes)).toBe(expected);
  });
});

describe('binary bytes', () => {
  const bytes = Uint8Array.from({ length: 256 * 400 }, (_, i) => i % 256);

  it('are shown in rows', () => {
    expect(hexRow(Buffer.from([0, 1, 0x41, 0xff]), 0)).toBe(`000000  ${'00 01 41 ff'.padEnd(47)}  ..A.`);
    expect(hexRow(bytes, 0x140)).toBe('000140  40 41 42 43 44 45 46 47 48 49 4a 4b 4c 4d 4e 4f  @ABCDEFGHIJKLMNO');
  });

  it('are copied as base 64, whatever their length', () => {
    for (const length of [0, 1, 2, 3, 24_575, 24_576, 24_577, bytes.length])
      expect(Buffer.from(base64Of(bytes.subarray(0, length)), 'base64').equals(bytes.subarray(0, length))).toBe(true);
  });
});
