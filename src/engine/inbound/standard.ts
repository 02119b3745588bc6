import { Buffer } from 'node:buffer';
import { createHmac, verify as verifySignature } from 'node:crypto';
import { decodeBase64, decodeKey, decodeSignature, ed25519Key, equalBytes } from './keys.js';
import { headerOf, type ReceivedRequest } from './request.js';
import type { StandardScheme } from './scheme.js';
import { isFresh } from './timestamp.js';

const PUBLIC_KEY_PREFIX = 'whpk_';
const HMAC_BYTES = 32;
const ED25519_BYTES = 64;
const SIGNATURES_MAX = 100;

/** Verifies Standard Webhooks 1.0.0. One valid signature of a known version, with one of the secrets, is enough. */
export function verifyStandard(
  scheme: StandardScheme,
  request: Pick<ReceivedRequest, 'headers' | 'body'>,
  secrets: readonly string[],
  nowMs: number,
): boolean {
  const prefix = scheme.prefixes.find((start) => headerOf(request, `${start}signature`) !== undefined);
  if (prefix === undefined) return false;
  const [id, timestamp, list] = ['id', 'timestamp', 'signature'].map((name) => headerOf(request, prefix + name) ?? '');
  if (
    !id ||
    !timestamp ||
    !list ||
    !isFresh(timestamp, { unit: 's', toleranceSeconds: scheme.toleranceSeconds }, nowMs)
  )
    return false;
  const content = Buffer.concat([Buffer.from(`${id}.${timestamp}.`, 'utf8'), request.body]);
  // Also splits at commas, because repeated headers were joined by a comma and a space.
  const signatures = list.split(/,? +/, SIGNATURES_MAX);
  return secrets.some((secret) => holds(secret, content, signatures));
}

/** Returns a signature of Standard Webhooks. Null if the secret cannot be decoded to a symmetric key. */
export function signStandard(secret: string, id: string, timestampSeconds: string, body: Buffer): string | null {
  const key = decodeKey(secret, 'whsec');
  if (key === null) return null;
  return `v1,${createHmac('sha256', key).update(`${id}.${timestampSeconds}.`).update(body).digest('base64')}`;
}

function holds(secret: string, content: Buffer, signatures: readonly string[]): boolean {
  if (isPublicKey(secret)) {
    const key = ed25519Key(decodeBase64(secret.slice(PUBLIC_KEY_PREFIX.length)));
    return (
      key !== null &&
      ofVersion('v1a', signatures, ED25519_BYTES).some((signature) => verifySignature(null, content, key, signature))
    );
  }
  const key = decodeKey(secret, 'whsec');
  if (key === null) return false;
  const expected = createHmac('sha256', key).update(content).digest();
  return ofVersion('v1', signatures, HMAC_BYTES).some((signature) => equalBytes(signature, expected));
}

function isPublicKey(secret: string): boolean {
  return secret.startsWith(PUBLIC_KEY_PREFIX);
}

function ofVersion(version: string, signatures: readonly string[], bytes: number): Buffer[] {
  return signatures.flatMap((signature) => {
    if (!signature.startsWith(`${version},`)) return [];
    return decodeSignature(signature.slice(version.length + 1), 'base64', bytes) ?? [];
  });
}
