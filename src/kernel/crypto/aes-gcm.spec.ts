import * as fc from 'fast-check';
import { BOX_BYTES, decrypt, encrypt } from './aes-gcm.js';

const hex = (text: string): Buffer => Buffer.from(text, 'hex');

/** Test case 16 of McGrew and Viega, "The Galois/Counter Mode of Operation": AES-256, a 96-bit IV, additional data. */
const PUBLISHED = {
  key: hex('feffe9928665731c6d6a8f9467308308feffe9928665731c6d6a8f9467308308'),
  iv: hex('cafebabefacedbaddecaf888'),
  context: hex('feedfacedeadbeeffeedfacedeadbeefabaddad2'),
  plaintext: hex(
    'd9313225f88406e5a55909c5aff5269a86a7a9531534f7da2e4c303d8a318a721c3c0c95956809532fcf0e2449a6b525b16aedf5aa0de657ba637b39',
  ),
  ciphertext: hex(
    '522dc1f099567d07f47f37a32a84427d643a8cdcbfe5c0c97598a2bd2555d1aa8cb08e48590dbb3da7b08b1056828838c5f61e6393ba7a0abcc9f662',
  ),
  tag: hex('76fc6ece0f4e1768cddf8853bb2d551b'),
};

const KEY = Buffer.alloc(32, 7);
const CONTEXT = Buffer.from('here');

describe('encrypt and decrypt', () => {
  it('are AES-256-GCM: a published box opens', () => {
    const { key, iv, tag, ciphertext, context, plaintext } = PUBLISHED;

    expect(decrypt(key, Buffer.concat([iv, tag, ciphertext]), context)).toEqual(plaintext);
  });

  it('are inverse to each other, for bytes and text of any length, including 0', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 300 }), fc.uint8Array({ maxLength: 50 }), (bytes, aad) => {
        const [plaintext, context] = [Buffer.from(bytes), Buffer.from(aad)];
        const box = encrypt(KEY, plaintext, context);

        expect(box).toHaveLength(BOX_BYTES + plaintext.length);
        expect(decrypt(KEY, box, context)).toEqual(plaintext);
      }),
    );
    expect(decrypt(KEY, encrypt(KEY, 'schön', CONTEXT), CONTEXT)?.toString()).toBe('schön');
  });

  it('produce a different box every time', () => {
    expect(encrypt(KEY, 'a', CONTEXT)).not.toEqual(encrypt(KEY, 'a', CONTEXT));
  });

  it('reject a tag of 4 bytes, which Node.js accepts by default', () => {
    const { key, iv, tag, context } = PUBLISHED;

    // Two boxes (IV, tag, ciphertext) with a tag of only four bytes: one without a ciphertext, one with a ciphertext.
    expect(decrypt(key, Buffer.concat([iv, tag.subarray(0, 4)]), context)).toBeNull();
    expect(decrypt(key, Buffer.concat([iv, tag.subarray(0, 4), PUBLISHED.ciphertext]), context)).toBeNull();
  });

  it('fail with another key or another context', () => {
    const box = encrypt(KEY, 'a', CONTEXT);

    expect(decrypt(Buffer.alloc(32, 8), box, CONTEXT)).toBeNull();
    expect(decrypt(KEY, box, Buffer.from('there'))).toBeNull();
  });
});
