import { Buffer } from 'node:buffer';
import { createPublicKey, type KeyObject, verify as verifySignature, X509Certificate } from 'node:crypto';
import { contentOf } from './hmac.js';
import { decodeBase64, decodeHex, ed25519Key } from './keys.js';
import { headerOf, type ReceivedRequest } from './request.js';
import type { PublicKeyScheme } from './scheme.js';
import { readSource } from './source.js';
import { isFresh } from './timestamp.js';

const ED25519_BYTES = 64;
const RSA_BITS_MIN = 2048;

export function verifyPublicKey(
  scheme: PublicKeyScheme,
  request: Omit<ReceivedRequest, 'ip'>,
  keys: readonly string[],
  nowMs: number,
): boolean {
  const { timestamp: rule, prefix = '' } = scheme;
  const given = headerOf(request, scheme.header) ?? '';
  const timestamp = rule === undefined ? '' : rule.from === 'list' ? undefined : readSource(rule.from, request);
  if (!given.startsWith(prefix) || timestamp === undefined || (rule !== undefined && !isFresh(timestamp, rule, nowMs)))
    return false;
  const signature = signatureOf(scheme, given.slice(prefix.length));
  const content = contentOf(scheme, request, timestamp);
  if (signature === null || content === null) return false;
  return keys.some((text) => {
    const key = publicKeyOf(scheme.algorithm, text);
    return key !== null && verifySignature(scheme.algorithm === 'ed25519' ? null : 'sha256', content, key, signature);
  });
}

/** Parses PEM (also a certificate), base64 SPKI, or an Ed25519 key of 32 bytes in hex or base64. Otherwise null. */
export function publicKeyOf(algorithm: PublicKeyScheme['algorithm'], text: string): KeyObject | null {
  try {
    const key = readKey(algorithm, text.trim());
    const type = algorithm === 'ed25519' ? 'ed25519' : 'rsa';
    if (key?.asymmetricKeyType !== type) return null;
    return type === 'rsa' && (key.asymmetricKeyDetails?.modulusLength ?? 0) < RSA_BITS_MIN ? null : key;
  } catch {
    return null;
  }
}

function readKey(algorithm: PublicKeyScheme['algorithm'], text: string): KeyObject | null {
  // A secret cannot contain line breaks, so PEM is given on one line, with or without spaces.
  const [, label = '', inner = ''] = /^-----BEGIN ([A-Z ]+)-----(.*)-----END \1-----$/s.exec(text) ?? [];
  const der = decodeBase64((label === '' ? text : inner).replace(/\\n|\s/g, ''));
  if (label === 'CERTIFICATE') return der && new X509Certificate(der).publicKey;
  if (label === 'RSA PUBLIC KEY') return der && createPublicKey({ key: der, format: 'der', type: 'pkcs1' });
  const raw = algorithm === 'ed25519' && label === '' ? (ed25519Key(decodeHex(text)) ?? ed25519Key(der)) : null;
  return raw ?? (der && createPublicKey({ key: der, format: 'der', type: 'spki' }));
}

function signatureOf({ algorithm, encoding }: PublicKeyScheme, text: string): Buffer | null {
  const isHex =
    encoding === 'hex' ||
    (encoding === 'either' &&
      /^(?:[0-9a-fA-F]{2})+$/.test(text) &&
      (algorithm === 'rsa-sha256' || text.length === 2 * ED25519_BYTES));
  return isHex ? decodeHex(text) : decodeBase64(text);
}
