import { createCipheriv, createDecipheriv } from 'node:crypto';
import { RandomPool } from './random-pool.js';

const ALGORITHM = 'aes-256-gcm';
const IV_BYTES = 12;
/**
 * Length of the authentication tag. It is always set and checked, because Node.js would otherwise accept tags of 4
 * bytes.
 */
const TAG_BYTES = 16;

const ivs = new RandomPool(IV_BYTES);

/** Number of bytes by which a box (the result of `encrypt`) exceeds its plaintext. */
export const BOX_BYTES = IV_BYTES + TAG_BYTES;

/**
 * Encrypts with AES-256-GCM and a random IV. Returns a box: IV (12 bytes) ‖ tag (16 bytes) ‖ ciphertext. Random IVs
 * limit one key to about 2^32 boxes (NIST SP 800-38D, section 8.3), far more than Posthorn needs for settings.
 */
export function encrypt(key: Buffer, plaintext: string | Buffer, context: Buffer): Buffer {
  const iv = ivs.next();
  const cipher = createCipheriv(ALGORITHM, key, iv, { authTagLength: TAG_BYTES }).setAAD(context);
  const ciphertext = Buffer.concat([
    typeof plaintext === 'string' ? cipher.update(plaintext, 'utf8') : cipher.update(plaintext),
    cipher.final(),
  ]);
  return Buffer.concat([iv, cipher.getAuthTag(), ciphertext]);
}

/** Decrypts a box. Returns null if the key or the context is wrong, or if the box was altered. */
export function decrypt(key: Buffer, box: Buffer, context: Buffer): Buffer | null {
  if (box.length < BOX_BYTES) return null;
  const decipher = createDecipheriv(ALGORITHM, key, box.subarray(0, IV_BYTES), { authTagLength: TAG_BYTES }).setAAD(
    context,
  );
  decipher.setAuthTag(box.subarray(IV_BYTES, BOX_BYTES));
  try {
    return Buffer.concat([decipher.update(box.subarray(BOX_BYTES)), decipher.final()]);
  } catch {
    return null;
  }
}
