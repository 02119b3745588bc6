import { Buffer } from 'node:buffer';
import { createPublicKey, hash, type JsonWebKey, verify as verifySignature } from 'node:crypto';
import { isObject } from './body.js';
import { equalText } from './keys.js';
import { headerOf, type ReceivedRequest } from './request.js';
import type { JwtScheme } from './scheme.js';

const PART = /^[A-Za-z0-9_-]+$/;
const TOKEN_LENGTH_MAX = 8_192;
/** Tolerated difference between the clock of the issuer and Posthorn's. */
const LEEWAY_SECONDS = 60;
const KEYS_MAX = 100;

interface Algorithm {
  keyType: 'RSA' | 'EC' | 'OKP';
  curve?: string;
  hash: string | null;
  isPss?: true;
}

/** RFC 7518, section 3.1, and RFC 8037. Excludes `none` and symmetric algorithms, because the keys are public. */
const ALGORITHMS: ReadonlyMap<unknown, Algorithm> = new Map<unknown, Algorithm>([
  ['RS256', { keyType: 'RSA', hash: 'sha256' }],
  ['RS384', { keyType: 'RSA', hash: 'sha384' }],
  ['RS512', { keyType: 'RSA', hash: 'sha512' }],
  ['PS256', { keyType: 'RSA', hash: 'sha256', isPss: true }],
  ['PS384', { keyType: 'RSA', hash: 'sha384', isPss: true }],
  ['PS512', { keyType: 'RSA', hash: 'sha512', isPss: true }],
  ['ES256', { keyType: 'EC', curve: 'P-256', hash: 'sha256' }],
  ['ES384', { keyType: 'EC', curve: 'P-384', hash: 'sha384' }],
  ['ES512', { keyType: 'EC', curve: 'P-521', hash: 'sha512' }],
  ['EdDSA', { keyType: 'OKP', curve: 'Ed25519', hash: null }],
]);
const PSS_PADDING = 6;
const SALT_OF_DIGEST = -1;

export function jwtOf({ header }: Pick<JwtScheme, 'header'>, request: Pick<ReceivedRequest, 'headers'>): string | null {
  const value = headerOf(request, header);
  const token = header === 'authorization' ? /^Bearer +(\S+)$/i.exec(value ?? '')?.[1] : value;
  return token === undefined || token === '' || token.length > TOKEN_LENGTH_MAX ? null : token;
}

/** Returns whether a text is a key set (RFC 7517, section 5), which may be empty. An error page is not a key set. */
export function isKeySet(text: string): boolean {
  return Array.isArray(membersOf(text)?.keys);
}

/** Returns whether the set (RFC 7517) has the token's key. If not, the cached set may be outdated. */
export function hasKeyOf(token: string, jwks: string): boolean {
  const header = partsOf(token)?.header;
  return header !== undefined && keysFor(header, jwks).length > 0;
}

/** The token must be signed by a key of the set, for this endpoint, current, and bound to this body if required. */
export function verifyJwt(
  scheme: JwtScheme,
  request: Pick<ReceivedRequest, 'headers' | 'body'>,
  jwks: string,
  nowMs: number,
): boolean {
  const parts = partsOf(jwtOf(scheme, request) ?? '');
  if (parts === null) return false;
  const { header, claims, signed, signature } = parts;
  const algorithm = ALGORITHMS.get(header.alg);
  if (algorithm === undefined || header.crit !== undefined) return false;
  const isSigned = keysFor(header, jwks).some((key) => holds(key, algorithm, signed, signature));
  return (
    isSigned &&
    isOfNow(scheme, claims, nowMs / 1000) &&
    isForUs(scheme, claims) &&
    isOfBody(scheme, claims, request.body)
  );
}

function isOfNow(
  { maxAgeSeconds }: JwtScheme,
  { exp, nbf, iat }: Readonly<Record<string, unknown>>,
  nowSeconds: number,
): boolean {
  if (exp !== undefined && (typeof exp !== 'number' || exp + LEEWAY_SECONDS <= nowSeconds)) return false;
  if (nbf !== undefined && (typeof nbf !== 'number' || nbf - LEEWAY_SECONDS > nowSeconds)) return false;
  if (iat !== undefined && (typeof iat !== 'number' || iat - LEEWAY_SECONDS > nowSeconds)) return false;
  return exp !== undefined || (typeof iat === 'number' && iat + maxAgeSeconds >= nowSeconds);
}

function isForUs({ issuer, audience, claims: wanted }: JwtScheme, claims: Readonly<Record<string, unknown>>): boolean {
  const { iss, aud } = claims;
  if (issuer !== null && iss !== issuer) return false;
  if (audience !== null && aud !== audience && !(Array.isArray(aud) && aud.includes(audience))) return false;
  return Object.entries(wanted).every(
    ([name, text]) => Object.hasOwn(claims, name) && (claims[name] === text || JSON.stringify(claims[name]) === text),
  );
}

function isOfBody({ bodyHashClaim }: JwtScheme, claims: Readonly<Record<string, unknown>>, body: Buffer): boolean {
  if (bodyHashClaim === null) return true;
  const given = Object.hasOwn(claims, bodyHashClaim) ? claims[bodyHashClaim] : undefined;
  const digest = hash('sha256', body, 'buffer');
  return (
    typeof given === 'string' &&
    (equalText(given.toLowerCase(), digest.toString('hex')) || equalText(given, digest.toString('base64url')))
  );
}

function holds(
  key: JsonWebKey,
  { hash: digest, isPss, keyType }: Algorithm,
  signed: Buffer,
  signature: Buffer,
): boolean {
  try {
    const publicKey = createPublicKey({ key, format: 'jwk' });
    if (keyType === 'EC')
      return verifySignature(digest, signed, { key: publicKey, dsaEncoding: 'ieee-p1363' }, signature);
    return verifySignature(
      digest,
      signed,
      isPss ? { key: publicKey, padding: PSS_PADDING, saltLength: SALT_OF_DIGEST } : publicKey,
      signature,
    );
  } catch {
    // One invalid key in the set does not affect the others.
    return false;
  }
}

function keysFor(header: Readonly<Record<string, unknown>>, jwks: string): JsonWebKey[] {
  const algorithm = ALGORITHMS.get(header.alg);
  const keys = membersOf(jwks)?.keys;
  if (algorithm === undefined || !Array.isArray(keys)) return [];
  return keys
    .slice(0, KEYS_MAX)
    .filter(isObject)
    .filter(
      (key) =>
        key.kty === algorithm.keyType &&
        (algorithm.curve === undefined || key.crv === algorithm.curve) &&
        (header.kid === undefined || key.kid === header.kid) &&
        (key.use === undefined || key.use === 'sig') &&
        (key.alg === undefined || key.alg === header.alg),
    );
}

interface Parts {
  header: Readonly<Record<string, unknown>>;
  claims: Readonly<Record<string, unknown>>;
  signed: Buffer;
  signature: Buffer;
}

function partsOf(token: string): Parts | null {
  const [head = '', payload = '', signature = '', ...more] = token.split('.', 4);
  if (more.length > 0 || ![head, payload, signature].every((part) => PART.test(part))) return null;
  const [header, claims] = [head, payload].map((part) => membersOf(Buffer.from(part, 'base64url').toString('utf8')));
  if (!header || !claims) return null;
  return {
    header,
    claims,
    signed: Buffer.from(`${head}.${payload}`, 'latin1'),
    signature: Buffer.from(signature, 'base64url'),
  };
}

function membersOf(text: string): Readonly<Record<string, unknown>> | null {
  try {
    const json = JSON.parse(text) as unknown;
    return isObject(json) ? json : null;
  } catch {
    return null;
  }
}
