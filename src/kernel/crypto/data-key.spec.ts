import { derive, firstDataKey, unwrap, wrap } from './data-key.js';

const MASTER_KEY = Buffer.alloc(32, 7);
const DATA_KEY = { id: 3, key: Buffer.alloc(32, 9) };

describe('a wrapped data key', () => {
  it('opens with its master key, under its number', () => {
    expect(unwrap(MASTER_KEY, 3, wrap(MASTER_KEY, DATA_KEY))).toEqual(DATA_KEY);
  });

  it('does not open with another master key, or in another row', () => {
    const wrapped = wrap(MASTER_KEY, DATA_KEY);

    expect(unwrap(Buffer.alloc(32, 8), 3, wrapped)).toBeNull();
    expect(unwrap(MASTER_KEY, 4, wrapped)).toBeNull();
  });

  it('does not open if any byte was altered, or if it was truncated', () => {
    const wrapped = wrap(MASTER_KEY, DATA_KEY);

    for (let i = 0; i < wrapped.length; i += 1) {
      const altered = Buffer.from(wrapped);
      altered[i] = (altered[i] ?? 0) ^ 1;
      expect(unwrap(MASTER_KEY, 3, altered)).toBeNull();
      expect(unwrap(MASTER_KEY, 3, wrapped.subarray(0, i))).toBeNull();
    }
  });

  it('does not contain the key', () => {
    expect(wrap(MASTER_KEY, DATA_KEY).includes(DATA_KEY.key.subarray(0, 8))).toBe(false);
  });
});

describe('derived keys', () => {
  it('differ by purpose and by input key', () => {
    const keys = [
      derive(MASTER_KEY, 'a'),
      derive(MASTER_KEY, 'b'),
      derive(DATA_KEY.key, 'a'),
      firstDataKey(MASTER_KEY),
      MASTER_KEY,
    ];

    expect(new Set(keys.map((key) => key.toString('hex'))).size).toBe(keys.length);
    expect(keys.map((key) => key.length)).toEqual([32, 32, 32, 32, 32]);
  });

  it('are HKDF-SHA256 without salt: RFC 5869, test case 3', () => {
    // The published test case uses an empty `info`, unlike all callers of `derive`. Only the first 32 of its 42 bytes
    // are compared.
    expect(derive(Buffer.alloc(22, 0x0b), '').toString('hex')).toBe(
      '8da4e775a563c18f715f802a063c5a31b8a11f5c5ee1879ec3454e5f3c738d2d',
    );
  });
});
