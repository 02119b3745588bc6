import { createHmac, createPublicKey, type KeyObject, timingSafeEqual, verify } from 'node:crypto';

/** A verified webhook: signed with a shared secret, and recent. */
export interface VerifiedWebhook {
  /** The `webhook-id`, the same for every attempt and replay. Ignore a webhook whose id you have already processed. */
  id: string;
  /** Time at which this attempt was signed. */
  at: Date;
  isReplay: boolean;
  /** The body as text, for `JSON.parse`. */
  body: string;
}

/** A webhook that failed verification. The message gives the reason for the receiver's own log. */
export class WebhookVerificationError extends Error {
  override readonly name: string = 'WebhookVerificationError';
}

export interface VerifyOptions {
  /** Maximum difference between the timestamp and the receiver's clock, in seconds. */
  toleranceSeconds?: number;
  /** Current time. */
  now?: Date;
}

type HeaderBag = Headers | Readonly<Record<string, string | readonly string[] | undefined>>;

const TOLERANCE_SECONDS = 300;

/**
 * Verifies Standard Webhooks: checks the signature of the raw body in constant time, and that the timestamp is recent.
 * Takes one or more secrets (`whsec_…`, or the public key `whpk_…` of an asymmetric secret). While a secret is rotated,
 * a delivery has several signatures, and any valid one is accepted.
 */
export class WebhookVerifier {
  private readonly keys: (Buffer | KeyObject)[];

  /** Throws for an invalid secret. */
  constructor(secrets: string | readonly string[]) {
    this.keys = (typeof secrets === 'string' ? [secrets] : secrets).map(keyOf);
    if (this.keys.length === 0) throw new TypeError('At least one secret is required.');
  }

  /** Returns the verified webhook. `body` is the raw body. On `WebhookVerificationError`, respond with status 401. */
  verify(body: string | Uint8Array, headers: HeaderBag, options: VerifyOptions = {}): VerifiedWebhook {
    const [id, timestamp, signatures] = ['webhook-id', 'webhook-timestamp', 'webhook-signature'].map((name) =>
      headerOf(headers, name),
    ) as [string, string, string];
    const bytes =
      typeof body === 'string' ? Buffer.from(body) : Buffer.from(body.buffer, body.byteOffset, body.byteLength);
    if (!/^\d{1,12}$/.test(timestamp))
      throw new WebhookVerificationError('webhook-timestamp is not a time in seconds.');
    const { toleranceSeconds = TOLERANCE_SECONDS, now = new Date() } = options;
    const ageSeconds = now.getTime() / 1_000 - Number(timestamp);
    if (Math.abs(ageSeconds) > toleranceSeconds)
      throw new WebhookVerificationError(
        `It was signed ${Math.round(Math.abs(ageSeconds))} s ${ageSeconds > 0 ? 'ago' : 'in the future'}.`,
      );
    const signed = Buffer.concat([Buffer.from(`${id}.${timestamp}.`), bytes]);
    const given = signatures.split(' ').map((part) => part.split(',', 2) as [string, string?]);
    if (
      !this.keys.some((key) => given.some(([version, signature = '']) => isSignedBy(key, version, signed, signature)))
    ) {
      throw new WebhookVerificationError('None of its signatures is valid.');
    }
    return {
      id,
      at: new Date(Number(timestamp) * 1_000),
      isReplay: optionalHeaderOf(headers, 'webhook-replayed') === 'true',
      body: bytes.toString(),
    };
  }
}

function keyOf(secret: string): Buffer | KeyObject {
  if (secret.startsWith('whpk_')) {
    const x = Buffer.from(secret.slice('whpk_'.length), 'base64');
    if (x.length !== 32) throw new TypeError('A public key consists of whpk_ and the base64 of 32 bytes.');
    return createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x: x.toString('base64url') }, format: 'jwk' });
  }
  const text = secret.startsWith('whsec_') ? secret.slice('whsec_'.length) : secret;
  const key = Buffer.from(text, 'base64');
  if (!/^[A-Za-z0-9+/]+={0,2}$/.test(text) || key.length < 16)
    throw new TypeError('A secret consists of whsec_ and the base64 of at least 16 bytes.');
  return key;
}

function isSignedBy(key: Buffer | KeyObject, version: string, signed: Buffer, signature: string): boolean {
  const given = Buffer.from(signature, 'base64');
  if (!Buffer.isBuffer(key)) return version === 'v1a' && given.length === 64 && verify(null, signed, key, given);
  if (version !== 'v1') return false;
  const right = createHmac('sha256', key).update(signed).digest();
  return given.length === right.length && timingSafeEqual(given, right);
}

function headerOf(headers: HeaderBag, name: string): string {
  const value = optionalHeaderOf(headers, name);
  if (value === null || value === '') throw new WebhookVerificationError(`It has no ${name}.`);
  return value;
}

function optionalHeaderOf(headers: HeaderBag, name: string): string | null {
  if (headers instanceof Headers) return headers.get(name);
  const found = Object.entries(headers).find(([each]) => each.toLowerCase() === name)?.[1];
  return (Array.isArray(found) ? (found[0] as string | undefined) : (found as string | undefined)) ?? null;
}
