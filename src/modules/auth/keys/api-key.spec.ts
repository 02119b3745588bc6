import { createHash } from 'node:crypto';
import * as fc from 'fast-check';
import { generateApiKey, hasApiKeyForm, hashApiKey, keyMode, keyPrefix } from './api-key.js';

const random32 = fc.uint8Array({ minLength: 32, maxLength: 32 }).map((bytes) => Buffer.from(bytes));
const mode = fc.constantFrom('live', 'test');

/** The numbers behind base62, computed apart from the code under test. */
function valueOf(digits: string): bigint {
  const order = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
  return [...digits].reduce((sum, digit) => sum * 62n + BigInt(order.indexOf(digit)), 0n);
}

describe('generateApiKey', () => {
  it('gives the prefix, 43 characters that hold all 32 bytes, and the checksum of what stands before it', () => {
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

  it('stays as it is: a key that was given out must never change its form', () => {
    expect(generateApiKey('live', Buffer.alloc(32))).toBe('ek_live_00000000000000000000000000000000000000000003YcplW');
    expect(generateApiKey('test', Buffer.alloc(32, 0xff))).toBe(
      'ek_test_yhjskwdA6OZ1AL1YmHWZWm8LLG7HjnuCA2j5rOw8Xp11oILAw',
    );
  });

  it('takes 32 bytes and no other number', () => {
    expect(() => generateApiKey('live', Buffer.alloc(31))).toThrow(RangeError);
    expect(() => generateApiKey('live', Buffer.alloc(33))).toThrow(RangeError);
  });
});

describe('hasApiKeyForm', () => {
  it('is true of every key that was generated', () => {
    fc.assert(fc.property(random32, mode, (random, keysMode) => hasApiKeyForm(generateApiKey(keysMode, random))));
  });

  it('is true of a key that an operator made up, from 20 letters and digits on', () => {
    expect(hasApiKeyForm(`ek_test_${'a1'.repeat(10)}`)).toBe(true);
    expect(hasApiKeyForm(`ek_test_${'a1'.repeat(9)}b`)).toBe(false);
  });

  it.each([
    ['nothing', ''],
    ['the prefix alone', 'ek_live_'],
    ['another environment', generateApiKey('live', Buffer.alloc(32, 1)).replace('live', 'prod')],
    ['more than any key has', `ek_live_${'a'.repeat(101)}`],
    ['a dash', `ek_live_${'a'.repeat(20)}-${'b'.repeat(20)}`],
    ['a line break behind it', `${generateApiKey('live', Buffer.alloc(32, 1))}\n`],
    ['a signing secret', 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'],
  ])('is false of %s', (_what, text) => {
    expect(hasApiKeyForm(text)).toBe(false);
  });
});

describe('the parts of a key', () => {
  const key = generateApiKey('test', Buffer.alloc(32, 3));

  it('stores the SHA-256 of the whole text', () => {
    expect(hashApiKey(key)).toEqual(createHash('sha256').update(key).digest());
  });

  it('shows the first twelve characters', () => {
    expect(keyPrefix(key)).toBe(key.slice(0, 12));
    expect(keyPrefix(key)).toMatch(/^ek_test_.{4}$/);
  });

  it('tells its environment', () => {
    expect(keyMode(key)).toBe('test');
    expect(keyMode(generateApiKey('live', Buffer.alloc(32)))).toBe('live');
  });
});
