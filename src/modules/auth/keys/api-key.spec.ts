import { createHash } from 'node:crypto';
import * as fc from 'fast-check';
import { generateApiKey, hasApiKeyForm, hashApiKey, keyMode, keyPrefix } from './api-key.js';

const random32 = fc.uint8Array({ minLength: 32, maxLength: 32 }).map((bytes) => Buffer.from(bytes));
const mode = fc.constantFrom('live', 'test');

/** Returns the value of base62 digits, decoded independently of the code under test. */
function valueOf(digits: string): bigint {
  const order = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
  return [...digits].reduce((sum, digit) => sum * 62n + BigInt(order.indexOf(digit)), 0n);
}

describe('generateApiKey', () => {
  it('returns the prefix, 43 characters that encode all 32 bytes, and the checksum of the preceding text', () => {
    fc.assert(
      fc.property(random32, mode, (random, keysMode) => {
        const key = generateApiKey(keysMode, random);

        const [, prefix = '', body = '', check = ''] = /^(ek_(?:live|test)_)(.{43})(.{6})$/.exec(key) ?? [];
        expect(prefix).toBe(`ek_${keysMode}_`);
        expect(valueOf(body)).toBe(BigInt(`0x${random.toString('hex')}`));
        expect(valueOf(check)).toBe(
          BigInt(
            createHash('sha256')
              .update(prefix + body)
              .digest()
              .readUInt32BE(0),
          ),
        );
      }),
    );
  });

  it('the format of existing keys never changes', () => {
    expect(generateApiKey('live', Buffer.alloc(32))).toBe('ek_live_00000000000000000000000000000000000000000003YcplW');
    expect(generateApiKey('test', Buffer.alloc(32, 0xff))).toBe(
      'ek_test_yhjskwdA6OZ1AL1YmHWZWm8LLG7HjnuCA2j5rOw8Xp11oILAw',
    );
  });

  it('throws unless there are exactly 32 bytes', () => {
    expect(() => generateApiKey('live', Buffer.alloc(31))).toThrow(RangeError);
    expect(() => generateApiKey('live', Buffer.alloc(33))).toThrow(RangeError);
  });
});

describe('hasApiKeyForm', () => {
  it('returns true for every generated key', () => {
    fc.assert(fc.property(random32, mode, (random, keysMode) => hasApiKeyForm(generateApiKey(keysMode, random))));
  });

  it('returns true for a key that an operator made up, with at least 20 letters and digits', () => {
    expect(hasApiKeyForm(`ek_test_${'a1'.repeat(10)}`)).toBe(true);
    expect(hasApiKeyForm(`ek_test_${'a1'.repeat(9)}b`)).toBe(false);
  });

  it.each([
    ['nothing', ''],
    ['the prefix alone', 'ek_live_'],
    ['another environment', generateApiKey('live', Buffer.alloc(32, 1)).replace('live', 'prod')],
    ['a text longer than any key', `ek_live_${'a'.repeat(101)}`],
    ['a dash', `ek_live_${'a'.repeat(20)}-${'b'.repeat(20)}`],
    ['a key followed by a line break', `${generateApiKey('live', Buffer.alloc(32, 1))}\n`],
    ['a signing secret', 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'],
  ])('is false of %s', (_what, text) => {
    expect(hasApiKeyForm(text)).toBe(false);
  });
});

describe('the parts of a key', () => {
  const key = generateApiKey('test', Buffer.alloc(32, 3));

  it('hashApiKey returns the SHA-256 of the whole text', () => {
    expect(hashApiKey(key)).toEqual(createHash('sha256').update(key).digest());
  });

  it('keyPrefix returns the first twelve characters', () => {
    expect(keyPrefix(key)).toBe(key.slice(0, 12));
    expect(keyPrefix(key)).toMatch(/^ek_test_.{4}$/);
  });

  it('tells its environment', () => {
    expect(keyMode(key)).toBe('test');
    expect(keyMode(generateApiKey('live', Buffer.alloc(32)))).toBe('live');
  });
});
