import { Buffer } from 'node:buffer';
import { createHmac } from 'node:crypto';

const SECRET_PREFIX = 'whsec_';
const KEY_BYTES_MIN = 24;
const KEY_BYTES_MAX = 64;

/**
 * The key inside a Standard Webhooks secret: `whsec_` and the padded standard base64 of 24 to 64 bytes.
 *
 * Only the canonical spelling is taken, because receivers' libraries decode the others in different ways.
 * @throws TypeError for anything else; the message never quotes the secret.
 */
export function parseSecret(secret: string): Buffer {
  if (!secret.startsWith(SECRET_PREFIX)) throw new TypeError('A signing secret starts with "whsec_".');
  const encoded = secret.slice(SECRET_PREFIX.length);
  const key = Buffer.from(encoded, 'base64');
  if (key.toString('base64') !== encoded) throw new TypeError('A signing secret is "whsec_" and padded standard base64.');
  assertKeyLength(key);
  return key;
}

/**
 * The secret that `parseSecret` reads back as `key`.
 * @throws TypeError unless `key` is 24 to 64 bytes long.
 */
export function formatSecret(key: Buffer): string {
  assertKeyLength(key);
  return SECRET_PREFIX + key.toString('base64');
}

/**
 * The value of `webhook-signature` (Standard Webhooks 1.0.0, symmetric `v1`): one signature per key, in the order
 * of `keys`, so that a receiver verifies with the old and the new secret while a rotation lasts.
 *
 * `id` must not contain a dot and `timestampSeconds` must be whole: the dot separates what is signed. A string body
 * is signed as UTF-8.
 * @throws RangeError without a key: an unsigned delivery must never look like a signed one.
 */
export function signatureHeader(keys: readonly Buffer[], id: string, timestampSeconds: number, body: string | Buffer): string {
  if (keys.length === 0) throw new RangeError('At least one key is needed to sign.');
  const prefix = `${id}.${timestampSeconds}.`;
  let header = '';
  for (const key of keys) {
    if (header !== '') header += ' ';
    header += `v1,${createHmac('sha256', key).update(prefix).update(body).digest('base64')}`;
  }
  return header;
}

function assertKeyLength(key: Buffer): void {
  if (key.length < KEY_BYTES_MIN || key.length > KEY_BYTES_MAX) {
    throw new TypeError(`A signing key has ${KEY_BYTES_MIN} to ${KEY_BYTES_MAX} bytes.`);
  }
}
