import { Buffer } from 'node:buffer';
import { createPrivateKey, createPublicKey, type KeyObject, sign } from 'node:crypto';
import { hmacSha256 } from './hmac.js';

const SECRET_PREFIX = 'whsec_';
const PUBLIC_KEY_PREFIX = 'whpk_';
const KEY_BYTES_MIN = 24;
const KEY_BYTES_MAX = 64;

/** Size of the seed of an ed25519 key pair. Any bytes are valid. */
export const SEED_BYTES = 32;
/**
 * Bytes before an ed25519 seed in PKCS #8 (RFC 8410, section 7), and the number of bytes before a public key in SPKI.
 */
const PKCS8_PREFIX = Buffer.from('302e020100300506032b657004220420', 'hex');
const SPKI_PREFIX_BYTES = 12;

const NO_PRIVATE_KEYS: readonly KeyObject[] = Object.freeze([]);

/**
 * Parses `whsec_` and the padded standard base64 of 24 to 64 bytes. Rejects other spellings, because receivers'
 * libraries decode them differently.
 *
 * @throws TypeError for anything else. The message never quotes the secret.
 */
export function parseSecret(secret: string): Buffer {
  if (!secret.startsWith(SECRET_PREFIX)) throw new TypeError('A signing secret starts with "whsec_".');
  const encoded = secret.slice(SECRET_PREFIX.length);
  const key = Buffer.from(encoded, 'base64');
  if (key.toString('base64') !== encoded)
    throw new TypeError('A signing secret is "whsec_" and padded standard base64.');
  assertKeyLength(key);
  return key;
}

/** Formats a key as a signing secret. @throws TypeError unless `key` is 24 to 64 bytes long. */
export function formatSecret(key: Buffer): string {
  assertKeyLength(key);
  return SECRET_PREFIX + key.toString('base64');
}

/** Returns the private key for a seed. @throws TypeError unless the seed has 32 bytes. */
export function privateKeyOf(seed: Buffer): KeyObject {
  if (seed.length !== SEED_BYTES) throw new TypeError(`An ed25519 seed has ${SEED_BYTES} bytes.`);
  return createPrivateKey({ key: Buffer.concat([PKCS8_PREFIX, seed]), format: 'der', type: 'pkcs8' });
}

/** Returns the public key for `v1a` signatures: `whpk_` and the base64 of its 32 bytes. */
export function formatPublicKey(privateKey: KeyObject): string {
  const publicKey = createPublicKey(privateKey).export({ format: 'der', type: 'spki' }).subarray(SPKI_PREFIX_BYTES);
  return PUBLIC_KEY_PREFIX + publicKey.toString('base64');
}

/**
 * Returns the value of `webhook-signature` (Standard Webhooks 1.0.0). It has one signature per key, so that receivers
 * can verify with the old or the new key during a rotation. Symmetric signatures (`v1`) come first, then the ed25519
 * signatures (`v1a`) of `privateKeys`.
 *
 * Dots separate the signed parts, so `id` must not contain a dot and `timestampSeconds` must be an integer. A string
 * body is signed as UTF-8.
 *
 * @throws RangeError without a symmetric key, because the official JavaScript verifiers support only `v1`.
 */
export function signatureHeader(
  keys: readonly Buffer[],
  id: string,
  timestampSeconds: number,
  body: string | Buffer,
  privateKeys: readonly KeyObject[] = NO_PRIVATE_KEYS,
): string {
  if (keys.length === 0) throw new RangeError('At least one key is needed to sign.');
  const prefix = `${id}.${timestampSeconds}.`;
  let header = '';
  for (const key of keys) {
    if (header !== '') header += ' ';
    header += `v1,${hmacSha256(key, prefix, body)}`;
  }
  return privateKeys.length === 0 ? header : header + asymmetric(privateKeys, prefix, body);
}

function asymmetric(privateKeys: readonly KeyObject[], prefix: string, body: string | Buffer): string {
  const signed = typeof body === 'string' ? Buffer.from(prefix + body) : Buffer.concat([Buffer.from(prefix), body]);
  return privateKeys.map((key) => ` v1a,${sign(null, signed, key).toString('base64')}`).join('');
}

function assertKeyLength(key: Buffer): void {
  if (key.length < KEY_BYTES_MIN || key.length > KEY_BYTES_MAX) {
    throw new TypeError(`A signing key has ${KEY_BYTES_MIN} to ${KEY_BYTES_MAX} bytes.`);
  }
}
