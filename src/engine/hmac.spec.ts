import { createHmac } from 'node:crypto';
import fc from 'fast-check';
import { unicodeText } from '../../test/support/unicode-text.js';
import { hmacSha256 } from './hmac.js';

const expected = (key: Buffer, prefix: string, body: string | Buffer): string =>
  createHmac('sha256', key).update(prefix).update(body).digest('base64');

describe('hmacSha256', () => {
  // RFC 4231, section 4: cases 1 to 4, and cases 6 and 7, whose keys are longer than a block.
  it.each([
    {
      n: 1,
      key: '0b'.repeat(20),
      text: 'Hi There',
      mac: 'b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7',
    },
    {
      n: 2,
      key: Buffer.from('Jefe').toString('hex'),
      text: 'what do ya want for nothing?',
      mac: '5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843',
    },
    {
      n: 3,
      key: 'aa'.repeat(20),
      text: Buffer.alloc(50, 0xdd),
      mac: '773ea91e36800e46854db8ebd09181a72959098b3ef8c122d9635514ced565fe',
    },
    {
      n: 4,
      key: '0102030405060708090a0b0c0d0e0f10111213141516171819',
      text: Buffer.alloc(50, 0xcd),
      mac: '82558a389a443c0ea4cc819899f2083a85f0faa3e578f8077a2e3ff46729665b',
    },
    {
      n: 6,
      key: 'aa'.repeat(131),
      text: 'Test Using Larger Than Block-Size Key - Hash Key First',
      mac: '60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54',
    },
    {
      n: 7,
      key: 'aa'.repeat(131),
      mac: '9b09ffa71b942fcb27635fbcd5b0e944bfdc63644f0713938a7f51535c3a35e2',
      text: 'This is a test using a larger than block-size key and a larger than block-size data. The key needs to be hashed before being used by the HMAC algorithm.',
    },
  ])('matches case $n of RFC 4231', ({ key, text, mac }) => {
    expect(hmacSha256(Buffer.from(key, 'hex'), '', text)).toBe(Buffer.from(mac, 'hex').toString('base64'));
  });

  it('matches node:crypto for any key, prefix and body, in any order', () => {
    const keys = [Buffer.alloc(24, 1), Buffer.alloc(64, 2), Buffer.alloc(65, 3), Buffer.from('short')];
    const body = fc.oneof(
      unicodeText({ maxLength: 200 }),
      fc.uint8Array({ maxLength: 200 }).map((bytes) => Buffer.from(bytes)),
    );
    fc.assert(
      fc.property(fc.nat(3), fc.string({ maxLength: 60 }), body, (at, prefix, text) => {
        const key = keys[at] as Buffer;
        return hmacSha256(key, prefix, text) === expected(key, prefix, text);
      }),
      { numRuns: 500 },
    );
  });

  it.each([{ length: 16_383 }, { length: 16_384 }, { length: 16_385 }, { length: 100_000 }])(
    'is correct for $length characters of one to three bytes, and for as many bytes',
    ({ length }) => {
      const key = Buffer.alloc(32, 7);
      for (const body of [
        'x'.repeat(length),
        'ö'.repeat(length),
        '\u20ac'.repeat(length),
        Buffer.alloc(length, 0xe2),
      ]) {
        expect(hmacSha256(key, '', body)).toBe(expected(key, '', body));
        expect(hmacSha256(key, 'msg_1.1700000000.', body)).toBe(expected(key, 'msg_1.1700000000.', body));
      }
    },
  );

  it('distinguishes keys with the same beginning', () => {
    const [one, other] = [Buffer.from('the same key'), Buffer.from('the same key')];
    expect(hmacSha256(one, 'a', 'b')).toBe(hmacSha256(other, 'a', 'b'));

    expect(hmacSha256(Buffer.from('another key.'), 'a', 'b')).not.toBe(hmacSha256(one, 'a', 'b'));
  });
});
