import { Buffer } from 'node:buffer';
import { createPublicKey, type KeyObject, verify as verifySignature, X509Certificate } from 'node:crypto';
import { contentOf, timestampOf } from './hmac.js';
import { decodeBase64, decodeHex, ed25519Key } from './keys.js';
import type { ReceivedRequest } from './request.js';
import type { PublicKeyScheme } from './scheme.js';
import { readSignatures } from './signature-header.js';
import { isFresh } from './timestamp.js';

const ED25519_BYTES = 64;
const RSA_BITS_MIN = 2048;
/** Maximum number of signatures, lower than for HMAC: verifying a signature costs up to 0.1 ms. */
const SIGNATURES_MAX = 10;

export function verifyPublicKey(
  scheme: PublicKeyScheme,
  request: Omit<ReceivedRequest, 'ip'>,
  keys: readonly string[],
  nowMs: number,
): boolean {
  const { timestamp: rule } = scheme;
  const texts = readSignatures([scheme.header], scheme.list, request);
  const timestamp = rule === undefined ? '' : timestampOf(rule, texts.timestamp, request);
  if (timestamp === undefined || (rule !== undefined && !isFresh(timestamp, rule, nowMs))) return false;
  const signatures = decodePublicKeySignatures(scheme, texts.signatures);
  const content = signatures.length === 0 ? null : contentOf(scheme, request, timestamp);
  if (content === null) return false;
  return keys.some((text) => {
    const key = publicKeyOf(scheme.algorithm, text);
    const hash = scheme.algorithm === 'ed25519' ? null : 'sha256';
    return key !== null && signatures.some((signature) => verifySignature(hash, content, key, signature));
  });
}

export function decodePublicKeySignatures(scheme: PublicKeyScheme, texts: readonly string[]): Buffer[] {
  const { prefix = '' } = scheme;
  return texts
    .slice(0, SIGNATURES_MAX)
    .flatMap((text) => (text.startsWith(prefix) ? (signatureOf(scheme, text.slice(prefix.length)) ?? []) : []));
}

/** Parses PEM (also a certificate), base64 SPKI, or a 32-byte Ed25519 key in hex or base64. Returns null otherwise. */
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
  // A secret cannot contain line breaks, so PEM is on one line, with or without spaces.
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
