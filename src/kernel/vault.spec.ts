import * as fc from 'fast-check';
import { sealedIn, Vault } from './vault.js';

const MASTER_KEY = Buffer.alloc(32, 7);
const CONTEXT = sealedIn({ table: 'destinations', environmentId: 1, id: '0190f0a0-0000-0000-0000-000000000001', column: 'secret' });

const vault = new Vault({ masterKey: MASTER_KEY });

describe('Vault', () => {
  it('opens what it sealed, text and bytes of any length', () => {
    fc.assert(fc.property(fc.uint8Array({ maxLength: 300 }), fc.string(), (bytes, context) => {
      const plaintext = Buffer.from(bytes);

      expect(vault.open(vault.seal(plaintext, context), context)).toEqual(plaintext);
    }));
    expect(vault.open(vault.seal('schön', CONTEXT), CONTEXT).toString()).toBe('schön');
  });

  it('writes version, IV and tag in front, and never the plaintext', () => {
    const sealed = vault.seal('top secret', CONTEXT);

    expect(sealed[0]).toBe(1);
    expect(sealed).toHaveLength(1 + 12 + 16 + 'top secret'.length);
    expect(sealed.includes('secret')).toBe(false);
  });

  it('seals the same value differently every time', () => {
    expect(vault.seal('a', CONTEXT)).not.toEqual(vault.seal('a', CONTEXT));
  });

  it('is opened by another node with the same master key', () => {
    const other = new Vault({ masterKey: Buffer.from(MASTER_KEY) });

    expect(other.open(vault.seal('a', CONTEXT), CONTEXT).toString()).toBe('a');
  });

  it('does not open in another row, column, table or environment', () => {
    const place = { table: 'destinations', environmentId: 1, id: 'a', column: 'secret' };
    const sealed = vault.seal('a', sealedIn(place));

    for (const moved of [{ table: 'environments' }, { environmentId: 2 }, { id: 'b' }, { column: 'previous_secret' }]) {
      expect(() => vault.open(sealed, sealedIn({ ...place, ...moved }))).toThrow('was altered');
    }
  });

  it('does not open when any bit was altered', () => {
    const sealed = vault.seal('abc', CONTEXT);

    for (let i = 0; i < sealed.length * 8; i += 1) {
      const altered = Buffer.from(sealed);
      altered[i >> 3] = (altered[i >> 3] ?? 0) ^ (1 << (i & 7));
      expect(() => vault.open(altered, CONTEXT)).toThrow();
    }
  });

  it('does not open when it was cut, in the ciphertext, in the tag or before it', () => {
    const sealed = vault.seal('abc', CONTEXT);

    for (let length = 0; length < sealed.length; length += 1) {
      expect(() => vault.open(sealed.subarray(0, length), CONTEXT)).toThrow();
    }
  });

  it('names MASTER_KEY when another one is configured', () => {
    const other = new Vault({ masterKey: Buffer.alloc(32, 8) });

    expect(() => other.open(vault.seal('a', CONTEXT), CONTEXT)).toThrow(/MASTER_KEY is not the one it was sealed with/);
  });
});
