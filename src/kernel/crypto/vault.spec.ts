import * as fc from 'fast-check';
import { firstDataKey } from './data-key.js';
import { sealedIn, Vault } from './vault.js';

const MASTER_KEY = Buffer.alloc(32, 7);
const CONTEXT = sealedIn({
  table: 'destinations',
  environmentId: 1,
  id: '0190f0a0-0000-0000-0000-000000000001',
  column: 'secret',
});

/** A value that is encrypted for this context. The last release without data keys encrypted it with this MASTER_KEY. */
const SEALED_BY_VERSION_1 = Buffer.from(
  '01cafebabefacedbaddecaf888c1bfe73a791b5eb4f774a9ef5655be8e038c38432ec86c21097d954760bbd635d4f4b851802a67',
  'hex',
);

function vaultWith(keys: Record<number, Buffer>): Vault {
  const newest = Math.max(...Object.keys(keys).map(Number));
  return new Vault({ newest: () => ({ id: newest, key: keys[newest] as Buffer }), find: (id) => keys[id] ?? null });
}

const FIRST = firstDataKey(MASTER_KEY);
const SECOND = Buffer.alloc(32, 1);
const vault = vaultWith({ 0: FIRST, 1: SECOND });

describe('Vault', () => {
  it('opens what it sealed, text and bytes of any length', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 300 }), fc.string(), (bytes, context) => {
        const plaintext = Buffer.from(bytes);

        expect(vault.open(vault.seal(plaintext, context), context)).toEqual(plaintext);
      }),
    );
    expect(vault.open(vault.seal('schön', CONTEXT), CONTEXT).toString()).toBe('schön');
  });

  it('seals a repeated value once for each context and data key, and long values each time', () => {
    const long = 'x'.repeat(257);
    const sealed = vault.sealRepeated('token', CONTEXT);

    expect(vault.sealRepeated('token', CONTEXT)).toEqual(sealed);
    expect(vault.sealRepeated('token', `${CONTEXT}.other`)).not.toEqual(sealed);
    expect(vault.sealRepeated('other', CONTEXT)).not.toEqual(sealed);
    expect(vault.sealRepeated(long, CONTEXT)).not.toEqual(vault.sealRepeated(long, CONTEXT));
    expect(vault.open(sealed, CONTEXT).toString()).toBe('token');
  });

  it('seals a repeated value again with a new data key', () => {
    let id = 0;
    const keys = [FIRST, SECOND];
    const rotated = new Vault({ newest: () => ({ id, key: keys[id] as Buffer }), find: (n) => keys[n] ?? null });
    const before = rotated.sealRepeated('token', CONTEXT);
    id = 1;

    const after = rotated.sealRepeated('token', CONTEXT);

    expect(after).not.toEqual(before);
    expect(rotated.open(after, CONTEXT).toString()).toBe('token');
  });

  it('forgets the oldest of more than 1,000 repeated values', () => {
    const first = vault.sealRepeated('first', CONTEXT);
    for (let i = 0; i < 1_000; i++) vault.sealRepeated(`value ${i}`, CONTEXT);

    expect(vault.sealRepeated('first', CONTEXT)).not.toEqual(first);
  });

  it('writes version, data key, IV and tag first, and never the plaintext', () => {
    const sealed = vaultWith({ 0x01020304: SECOND }).seal('top secret', CONTEXT);

    expect(sealed.subarray(0, 5).toString('hex')).toBe('0201020304');
    expect(sealed).toHaveLength(1 + 4 + 12 + 16 + 'top secret'.length);
    expect(sealed.includes('secret')).toBe(false);
  });

  it('seals the same value differently every time', () => {
    expect(vault.seal('a', CONTEXT)).not.toEqual(vault.seal('a', CONTEXT));
  });

  it('opens values of version 1, even after a rotation', () => {
    expect(vault.open(SEALED_BY_VERSION_1, CONTEXT).toString()).toBe('sealed before data keys');
    expect(
      vaultWith({ 0: FIRST, 1: SECOND, 2: Buffer.alloc(32, 2) })
        .open(SEALED_BY_VERSION_1, CONTEXT)
        .toString(),
    ).toBe('sealed before data keys');
    expect(() => vault.open(SEALED_BY_VERSION_1, 'elsewhere')).toThrow('was altered');
  });

  it('seals with the newest data key, and opens values of older ones', () => {
    const later = vaultWith({ 0: FIRST, 1: SECOND, 2: Buffer.alloc(32, 2) });

    const [before, after] = [vault.seal('a', CONTEXT), later.seal('b', CONTEXT)];

    expect(later.open(before, CONTEXT).toString()).toBe('a');
    expect(later.open(after, CONTEXT).toString()).toBe('b');
    expect(() => vault.open(after, CONTEXT)).toThrow(
      'was sealed with data key 2, which this process does not know yet',
    );
  });

  it('does not open in another row, column, table or environment', () => {
    const place = { table: 'destinations', environmentId: 1, id: 'a', column: 'secret' };
    const sealed = vault.seal('a', sealedIn(place));

    for (const moved of [{ table: 'environments' }, { environmentId: 2 }, { id: 'b' }, { column: 'previous_secret' }]) {
      expect(() => vault.open(sealed, sealedIn({ ...place, ...moved }))).toThrow('was altered');
    }
  });

  it('does not open under the number of another data key, even one with the same bytes', () => {
    const sealed = vault.seal('a', CONTEXT);
    sealed.writeUInt32BE(2, 1);

    expect(() => vaultWith({ 1: SECOND, 2: SECOND }).open(sealed, CONTEXT)).toThrow('was altered');
  });

  it('does not open if any bit was altered', () => {
    const sealed = vault.seal('abc', CONTEXT);

    for (let i = 0; i < sealed.length * 8; i += 1) {
      const altered = Buffer.from(sealed);
      altered[i >> 3] = (altered[i >> 3] ?? 0) ^ (1 << (i & 7));
      expect(() => vault.open(altered, CONTEXT)).toThrow();
    }
  });

  it('does not open if it was truncated, in the ciphertext, in the tag or before it', () => {
    for (const sealed of [vault.seal('abc', CONTEXT), SEALED_BY_VERSION_1]) {
      for (let length = 0; length < sealed.length; length += 1) {
        expect(() => vault.open(sealed.subarray(0, length), CONTEXT)).toThrow(/^The secret of/);
      }
    }
  });

  it('reports the location of a value that it cannot open, but nothing of the value or a key', () => {
    const failure = (sealed: Buffer): string => {
      try {
        vault.open(sealed, CONTEXT);
      } catch (error) {
        return (error as Error).message;
      }
      throw new Error('It was opened.');
    };
    const foreign = vaultWith({ 1: Buffer.alloc(32, 8) }).seal('hunter2', CONTEXT);

    expect(failure(Buffer.of(9))).toBe(`The secret of ${CONTEXT} has an unknown format.`);
    expect(failure(foreign)).toBe(
      `The secret of ${CONTEXT} can't be opened: it was sealed for another context, or was altered.`,
    );
  });
});
