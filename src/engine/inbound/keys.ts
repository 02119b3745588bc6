import { Buffer } from 'node:buffer';
import { createPublicKey, type KeyObject, timingSafeEqual } from 'node:crypto';
import type { HashName, KeyEncoding, SignatureEncoding } from './scheme.js';

const HEX = /^(?:[0-9a-fA-F]{2})+$/;
const BASE64 = /^[A-Za-z0-9+/]+={0,2}$/;
const ED25519_KEY_BYTES = 32;
/** Prefix of a SubjectPublicKeyInfo before the 32 bytes of an Ed25519 key (RFC 8410, section 4). */
const ED25519_SPKI = Buffer.from('302a300506032b6570032100', 'hex');

export const DIGEST_BYTES: Readonly<Record<HashName, number>> = { sha1: 20, sha256: 32, sha512: 64 };

/** Decodes a secret to a key. Returns null if the secret is empty or not encoded as `encoding`. */
export function decodeKey(secret: string, encoding: KeyEncoding): Buffer | null {
  switch (encoding) {
    case 'utf8':
      return secret === '' ? null : Buffer.from(secret, 'utf8');
    case 'hex':
      return decodeHex(secret);
    case 'base64':
      return decodeBase64(secret);
    case 'whsec':
      return decodeBase64(secret.replace(/^whsec_/, ''));
  }
}

/** Decodes a signature. Returns null unless the text decodes to exactly `bytes` bytes. */
export function decodeSignature(text: string, encoding: SignatureEncoding, bytes: number): Buffer | null {
  const isHex = encoding === 'hex' || (encoding === 'either' && text.length === bytes * 2);
  const signature = isHex ? decodeHex(text) : decodeBase64(text);
  return signature?.length === bytes ? signature : null;
}

export function decodeHex(text: string): Buffer | null {
  return HEX.test(text) ? Buffer.from(text, 'hex') : null;
}

/** Decodes base64, padded or not. Returns null when the text is empty or not base64. */
export function decodeBase64(text: string): Buffer | null {
  return BASE64.test(text) ? Buffer.from(text, 'base64') : null;
}

export function ed25519Key(raw: Buffer | null): KeyObject | null {
  if (raw?.length !== ED25519_KEY_BYTES) return null;
  return createPublicKey({ key: Buffer.concat([ED25519_SPKI, raw]), format: 'der', type: 'spki' });
}

/** Returns whether the bytes are equal. The timing reveals only their lengths. */
export function equalBytes(left: Buffer, right: Buffer): boolean {
  return left.length === right.length && timingSafeEqual(left, right);
}

/**
 * Returns whether the texts are equal. The timing depends on the length of `given`, and not on the content or the length
 * of `expected`.
 */
export function equalText(given: string, expected: string): boolean {
  const [left, right] = [Buffer.from(given), Buffer.from(expected)];
  // If the lengths differ, compares `given` with itself, which takes the same time.
  const isSameLength = left.length === right.length;
  return timingSafeEqual(left, isSameLength ? right : left) && isSameLength;
}

/** Returns whether a text contains a key or certificate in PEM. */
export function isPem(text: string): boolean {
  return text.includes('-----BEGIN ');
}
