import { Buffer } from 'node:buffer';
import { createPublicKey, createVerify, verify as verifySignature } from 'node:crypto';
import { verifyHmac } from './hmac.js';
import { verifyAdyen, verifyClientState, verifyMailgun } from './in-body.js';
import { jwtFault, jwtOf, sharedJwtFault } from './jwt.js';
import { decodeBase64, decodeHex, ed25519Key, equalText } from './keys.js';
import { paypalCertificateUrl, verifyPaypal } from './paypal.js';
import { verifyPublicKey } from './public-key.js';
import { parametersOf, plainParameterOf } from './query.js';
import { headerOf, type ReceivedRequest, type Verification } from './request.js';
import type { Scheme } from './scheme.js';
import { isOfTopic, snsCertificateUrl, verifySns } from './sns.js';
import { verifyStandard } from './standard.js';
import { verifyTwilio } from './twilio.js';

const BASIC = /^Basic +([A-Za-z0-9+/]+={0,2})$/i;
const ED25519_BYTES = 64;

/**
 * Verifies that the sender of a request has one of `secrets`. Returns `none` if the scheme has no verification. Never
 * throws. Fails for schemes of the kind `code`, because the caller must run their code. `published`: the PEM or JWKS at
 * the URL that `publishedAt` returns.
 */
export function verify(
  scheme: Scheme,
  request: Omit<ReceivedRequest, 'ip'>,
  secrets: readonly string[],
  nowMs: number,
  published?: string,
): Verification {
  if (scheme.kind === 'none') return 'none';
  const usable = secrets.filter((secret) => secret !== '');
  try {
    return (usable.length > 0 || scheme.kind === 'jwt') && holds(scheme, request, usable, nowMs, published)
      ? 'verified'
      : 'failed';
  } catch {
    // node:crypto throws for malformed keys, and JSON functions throw for deeply nested JSON. Only an attacker or a
    // wrong secret causes these errors.
    return 'failed';
  }
}

function holds(
  scheme: Exclude<Scheme, { kind: 'none' }>,
  request: Omit<ReceivedRequest, 'ip'>,
  secrets: readonly string[],
  nowMs: number,
  published?: string,
): boolean {
  switch (scheme.kind) {
    case 'hmac':
      return verifyHmac(scheme, request, secrets, nowMs);
    case 'standard-webhooks':
      return verifyStandard(scheme, request, secrets, nowMs);
    case 'ed25519':
      return verifyEd25519(scheme, request, secrets);
    case 'ecdsa':
      return verifyEcdsa(scheme, request, secrets);
    case 'token':
      return isOneOf(headerOf(request, scheme.header), secrets);
    case 'query-token':
      return holdsQueryToken(scheme.name, request, secrets);
    case 'basic':
      return isOneOf(credentialsOf(request), secrets);
    case 'mailgun':
      return verifyMailgun(request, secrets);
    case 'adyen':
      return verifyAdyen(request, secrets);
    case 'client-state':
      return verifyClientState(request, secrets);
    case 'twilio':
      return verifyTwilio(request, secrets);
    case 'bearer':
      return isOneOf(/^Bearer +(\S+)$/i.exec(headerOf(request, 'authorization') ?? '')?.[1], secrets);
    case 'public-key':
      return verifyPublicKey(scheme, request, secrets, nowMs);
    case 'jwt':
      return published !== undefined && jwtFault(scheme, request, published, nowMs) === null;
    case 'shared-jwt':
      return sharedJwtFault(scheme, request, secrets, nowMs) === null;
    case 'paypal':
      return verifyPaypal(request, secrets, nowMs, published);
    case 'sns':
      return verifySns(request, secrets, published);
    case 'code':
      return false;
  }
}

/** Returns the URL of the certificate or key set to fetch. Null if none is needed or the request cannot be valid. */
export function publishedAt(
  scheme: Scheme,
  request: Pick<ReceivedRequest, 'headers' | 'body'>,
  secrets: readonly string[],
): string | null {
  if (scheme.kind === 'sns') return isOfTopic(request, secrets) ? snsCertificateUrl(request) : null;
  if (scheme.kind === 'paypal') return secrets.length > 0 ? paypalCertificateUrl(request) : null;
  return scheme.kind === 'jwt' && jwtOf(scheme, request) !== null ? scheme.jwksUrl : null;
}

function isOneOf(given: string | undefined, secrets: readonly string[]): boolean {
  return given !== undefined && secrets.some((secret) => equalText(given, secret));
}

/**
 * Returns whether the value of the query parameter is one of the secrets, with `+` decoded as a space or unchanged.
 * Rejects a repeated parameter.
 */
function holdsQueryToken(name: string, request: Pick<ReceivedRequest, 'query'>, secrets: readonly string[]): boolean {
  const [given, ...more] = parametersOf(request, name);
  if (more.length > 0) return false;
  return isOneOf(given, secrets) || isOneOf(plainParameterOf(request, name), secrets);
}

function credentialsOf(request: Pick<ReceivedRequest, 'headers'>): string | undefined {
  const encoded = BASIC.exec(headerOf(request, 'authorization') ?? '')?.[1];
  return encoded === undefined ? undefined : Buffer.from(encoded, 'base64').toString('utf8');
}

interface TimestampedHeaders {
  signatureHeader: string;
  timestampHeader: string;
}

function verifyEd25519(
  scheme: TimestampedHeaders,
  request: Omit<ReceivedRequest, 'ip'>,
  secrets: readonly string[],
): boolean {
  const signature = decodeHex(headerOf(request, scheme.signatureHeader) ?? '');
  const content = timestamped(scheme, request);
  if (signature?.length !== ED25519_BYTES || content === null) return false;
  return secrets.some((secret) => {
    const key = ed25519Key(decodeHex(secret));
    return key !== null && verifySignature(null, content, key, signature);
  });
}

function verifyEcdsa(
  scheme: TimestampedHeaders,
  request: Omit<ReceivedRequest, 'ip'>,
  secrets: readonly string[],
): boolean {
  const signature = decodeBase64(headerOf(request, scheme.signatureHeader) ?? '');
  const content = timestamped(scheme, request);
  if (signature === null || content === null) return false;
  return secrets.some((secret) => {
    const der = decodeBase64(secret);
    if (der === null) return false;
    return createVerify('sha256')
      .update(content)
      .verify(createPublicKey({ key: der, format: 'der', type: 'spki' }), signature);
  });
}

function timestamped(scheme: TimestampedHeaders, request: Omit<ReceivedRequest, 'ip'>): Buffer | null {
  const timestamp = headerOf(request, scheme.timestampHeader);
  return timestamp === undefined ? null : Buffer.concat([Buffer.from(timestamp, 'utf8'), request.body]);
}
