import { bytesOfBase64, bytesOfNumbers } from './attachment-bytes.js';

const BYTES = Buffer.from([0xfb, 0xff, 0xbe, 0x00]);

describe('bytesOfBase64', () => {
  it.each([
    ['base64', '+/++AA=='],
    ['base64url', '-_--AA=='],
    ['base64url without padding', '-_--AA'],
    ['line breaks', '+/+\r\n+AA=\n=\r\n'],
    ['spaces and tabs', ' +/ ++\tAA== '],
    ['base64url with line breaks', '-_-\n-AA\n'],
  ])('decodes %s', (_what, text) => {
    expect(bytesOfBase64(text)).toEqual(BYTES);
  });

  it('decodes a megabyte in MIME lines of 76 characters, and nothing at all', () => {
    const bytes = Buffer.alloc(1_048_576, 'posthorn');
    const lines = bytes.toString('base64').replace(/.{76}/g, '$&\r\n');

    expect(bytesOfBase64(lines)?.equals(bytes)).toBe(true);
    expect(bytesOfBase64('')).toEqual(Buffer.alloc(0));
  });

  it.each([
    ['no padding', '+/++AA'],
    ['too much padding', '+/++AA==='],
    ['padding in the middle', '+/==++AA'],
    ['both alphabets', '+_++AA=='],
    ['bits after the last byte', '+/++AB=='],
    ['a length that no bytes have', 'A'],
    ['a data URL', 'data:text/plain;base64,YQ=='],
    ['another character', 'YW*E='],
    ['a NUL', 'YQ\0=='],
    ['a no-break space', 'YQ\u00a0=='],
    ['letters that look like ASCII', 'ＹＱ=='],
  ])('returns null for %s', (_what, text) => {
    expect(bytesOfBase64(text)).toBeNull();
  });
});

describe('bytesOfNumbers', () => {
  it('decodes the JSON of a Buffer, and a list of numbers', () => {
    expect(bytesOfNumbers([...BYTES])).toEqual(BYTES);
    expect(bytesOfNumbers(JSON.parse(JSON.stringify(BYTES)))).toEqual(BYTES);
    expect(bytesOfNumbers({ type: 'Buffer', data: [] })).toEqual(Buffer.alloc(0));
  });

  it.each([
    null,
    undefined,
    5,
    [1, 256],
    [null],
    {},
    { type: 'Buffer' },
    { type: 'Uint8Array', data: [1] },
    { type: 'Buffer', data: 'YQ==' },
    { type: 'Buffer', data: [256] },
    { type: 'Buffer', data: [-1] },
    { type: 'Buffer', data: [1.5] },
    { type: 'Buffer', data: ['1'] },
    { type: 'Buffer', data: [null] },
    { type: 'Buffer', data: { length: 1e9 } },
  ])('returns null for %j', (value) => {
    expect(bytesOfNumbers(value)).toBeNull();
  });
});
