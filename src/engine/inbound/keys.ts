import { Buffer } from 'node:buffer';
import { createPublicKey, hash, type KeyObject, timingSafeEqual } from 'node:crypto';
import type { HashName, KeyEncoding, SignatureEncoding } from './scheme.js';

const HEX = /^(?:[0-9a-fA-F]{2})+$/;
const BASE64 = /^[A-Za-z0-9+/]+={0,2}$/;
const ED25519_KEY_BYTES = 32;
/** What stands before the 32 bytes of an Ed25519 key in a SubjectPublicKeyInfo (RFC 8410, section 4). */
const ED25519_SPKI = Buffer.from('302a300506032b6570032100', 'hex');

export const DIGEST_BYTES: Readonly<Record<HashName, number>> = { sha1: 20, sha256: 32, sha512: 64 };

/** The key inside a secret; null when the secret is empty or not written so. */
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

/** The bytes of a signature; null unless they are `bytes` long and nothing else stands there. */
export function decodeSignature(text: string, encoding: SignatureEncoding, bytes: number): Buffer | null {
  const isHex = encoding === 'hex' || (encoding === 'either' && text.length === bytes * 2);
  const signature = isHex ? decodeHex(text) : decodeBase64(text);
  return signature?.length === bytes ? signature : null;
}

/** The bytes that a hex string stands for; null when it is empty or none. */
export function decodeHex(text: string): Buffer | null {
  return HEX.test(text) ? Buffer.from(text, 'hex') : null;
}

/** The bytes of standard base64, padded or not; null when it is empty or none. */
export function decodeBase64(text: string): Buffer | null {
  return BASE64.test(text) ? Buffer.from(text, 'base64') : null;
}

/** An Ed25519 public key from its 32 bytes; null for any other length. */
export function ed25519Key(raw: Buffer | null): KeyObject | null {
  if (raw?.length !== ED25519_KEY_BYTES) return null;
  return createPublicKey({ key: Buffer.concat([ED25519_SPKI, raw]), format: 'der', type: 'spki' });
}

/** Whether two byte strings are equal, in a time that tells no more than their lengths. */
export function equalBytes(left: Buffer, right: Buffer): boolean {
  return left.length === right.length && timingSafeEqual(left, right);
}

/** Whether two texts are equal, in a time that tells nothing of the expected one, not even its length. */
export function equalText(given: string, expected: string): boolean {
  return timingSafeEqual(digest(given), digest(expected));
}

function digest(text: string): Buffer {
  return hash('sha256', text, 'buffer');
}
