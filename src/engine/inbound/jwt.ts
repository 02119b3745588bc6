import { Buffer } from 'node:buffer';
import { createHmac, createPublicKey, hash, type JsonWebKey, verify as verifySignature } from 'node:crypto';
import { isObject } from './body.js';
import { decodeKey, equalBytes, equalText, isPem } from './keys.js';
import { headerOf, type ReceivedRequest } from './request.js';
import type { JwtHmac, JwtScheme, SharedJwtScheme, TokenRules } from './scheme.js';

const PART = /^[A-Za-z0-9_-]+$/;
const TOKEN_LENGTH_MAX = 8_192;
/** Tolerated difference between the issuer's clock and Posthorn's clock. */
const LEEWAY_SECONDS = 60;
const KEYS_MAX = 100;
/** Maximum number of keys that are tried if the token does not name its key. */
const TRIED_MAX = 16;
/**
 * Maximum sizes of the numbers of an RSA key: 4,096 bits, and 32 bits. Checking a signature takes milliseconds for keys
 * with large exponents, and providers use 65537.
 */
const [MODULUS_BYTES_MAX, EXPONENT_BYTES_MAX] = [512, 4];

interface Algorithm {
  keyType: 'RSA' | 'EC' | 'OKP';
  curve?: string;
  hash: string | null;
  isPss?: true;
}

/**
 * Algorithms of RFC 7518 (section 3.1) and RFC 8037. Excludes `none` and symmetric algorithms, because the keys are
 * public.
 */
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
const HMAC_HASHES: Readonly<Record<JwtHmac, string>> = { HS256: 'sha256', HS384: 'sha384', HS512: 'sha512' };
const ALGORITHM_NAME = /^[A-Za-z0-9]{1,16}$/;
const PSS_PADDING = 6;
const SALT_OF_DIGEST = -1;

export function jwtOf(
  { header }: Pick<TokenRules, 'header'>,
  request: Pick<ReceivedRequest, 'headers'>,
): string | null {
  const value = headerOf(request, header);
  const token = header === 'authorization' ? /^(?:Bearer +)?(\S+)$/i.exec(value ?? '')?.[1] : value;
  return token === undefined || token === '' || token.length > TOKEN_LENGTH_MAX ? null : token;
}

/**
 * Returns whether a text is a key set (RFC 7517, section 5), which may be empty. False for an error page, for example.
 */
export function isKeySet(text: string): boolean {
  return Array.isArray(membersOf(text)?.keys);
}

/** Returns whether the key set (RFC 7517) contains the token's key. If not, the cached key set may be outdated. */
export function hasKeyOf(token: string, jwks: string): boolean {
  const header = partsOf(token)?.header;
  return header !== undefined && keysFor(header, jwks).length > 0;
}

type Bearing = Pick<ReceivedRequest, 'headers' | 'body'>;

/**
 * Returns null for a valid token: signed by a key of the set, issued for this endpoint, current, and bound to this body
 * if required. Otherwise returns the reason as the end of a sentence.
 */
export function jwtFault(scheme: JwtScheme, request: Bearing, jwks: string, nowMs: number): string | null {
  const parts = partsOf(jwtOf(scheme, request) ?? '');
  if (parts === null) return notAToken(scheme);
  const { header, signed, signature } = parts;
  const algorithm = ALGORITHMS.get(header.alg);
  if (algorithm === undefined) return refusedAlgorithm(header.alg, [...ALGORITHMS.keys()]);
  const isSigned = keysFor(header, jwks).some((key) => holds(key, algorithm, signed, signature));
  return isSigned ? ruleFault(scheme, parts, request.body, nowMs) : 'the token is not signed with a published key';
}

/**
 * Returns null for a valid token that is signed with one of the secrets. Otherwise returns the reason as the end of a
 * sentence.
 */
export function sharedJwtFault(
  scheme: SharedJwtScheme,
  request: Bearing,
  secrets: readonly string[],
  nowMs: number,
): string | null {
  const parts = partsOf(jwtOf(scheme, request) ?? '');
  if (parts === null) return notAToken(scheme);
  const { header, signed, signature } = parts;
  const algorithm = scheme.algorithms.find((name) => name === header.alg);
  if (algorithm === undefined) return refusedAlgorithm(header.alg, scheme.algorithms);
  const isSigned = secrets.some((secret) => {
    // Ignores a public key, which may still be stored as a secret after a change of the endpoint's scheme.
    const key = isPem(secret) ? null : decodeKey(secret, scheme.keyEncoding);
    return key !== null && equalBytes(signature, jwtDigest(algorithm, key, signed));
  });
  return isSigned
    ? ruleFault(scheme, parts, request.body, nowMs)
    : "the token is wrong, or not signed with the endpoint's secret";
}

/** Returns a token for this body that `scheme` accepts. Null if the secret cannot be decoded to a key. */
export function signSharedJwt(scheme: SharedJwtScheme, secret: string, body: Buffer, nowMs: number): string | null {
  const [alg] = scheme.algorithms;
  const key = decodeKey(secret, scheme.keyEncoding);
  if (key === null || alg === undefined) return null;
  const { issuer, audience, claims, bodyHashClaim } = scheme;
  const iat = Math.floor(nowMs / 1000);
  const payload = {
    ...claims,
    ...(issuer !== null && { iss: issuer }),
    ...(audience !== null && { aud: audience }),
    ...(bodyHashClaim !== null && { [bodyHashClaim]: hash('sha256', body, 'hex') }),
    iat,
    exp: iat + scheme.maxAgeSeconds,
  };
  const signed = [{ alg, typ: 'JWT' }, payload]
    .map((part) => Buffer.from(JSON.stringify(part)).toString('base64url'))
    .join('.');
  return `${signed}.${jwtDigest(alg, key, Buffer.from(signed)).toString('base64url')}`;
}

function jwtDigest(algorithm: JwtHmac, key: Buffer, signed: Buffer): Buffer {
  return createHmac(HMAC_HASHES[algorithm], key).update(signed).digest();
}

function notAToken({ header }: TokenRules): string {
  return `the header ${header} holds no JSON Web Token of at most ${TOKEN_LENGTH_MAX} characters`;
}

function refusedAlgorithm(alg: unknown, accepted: readonly unknown[]): string {
  const name = typeof alg === 'string' && ALGORITHM_NAME.test(alg) ? alg : 'unknown';
  return `the algorithm of the token is ${name}, and only ${accepted.join(', ')} can be used`;
}

function ruleFault(rules: TokenRules, { header, claims }: Parts, body: Buffer, nowMs: number): string | null {
  if (header.crit !== undefined) return 'the token needs an extension (crit) that is not supported';
  return timeFault(rules, claims, nowMs / 1000) ?? claimFault(rules, claims) ?? bodyFault(rules, claims, body);
}

function timeFault(
  { maxAgeSeconds, isTimeless }: TokenRules,
  { exp, nbf, iat }: Readonly<Record<string, unknown>>,
  nowSeconds: number,
): string | null {
  const wrong = Object.entries({ exp, nbf, iat }).find(([, time]) => time !== undefined && typeof time !== 'number');
  if (wrong !== undefined) return `the claim ${wrong[0]} of the token is not a number of seconds`;
  if (typeof exp === 'number' && exp + LEEWAY_SECONDS <= nowSeconds) return 'the token has expired';
  if (typeof nbf === 'number' && nbf - LEEWAY_SECONDS > nowSeconds) return 'the token is not valid yet (nbf)';
  if (typeof iat === 'number' && iat - LEEWAY_SECONDS > nowSeconds) return 'the token is from the future (iat)';
  if (exp !== undefined) return null;
  if (iat === undefined) return isTimeless === true ? null : 'the token has neither exp nor iat';
  return Number(iat) + maxAgeSeconds >= nowSeconds ? null : `the token is older than ${maxAgeSeconds} seconds`;
}

function claimFault(
  { issuer, audience, claims: wanted }: TokenRules,
  claims: Readonly<Record<string, unknown>>,
): string | null {
  const { iss, aud } = claims;
  if (issuer !== null && iss !== issuer) return 'the claim iss of the token is missing, or another issuer';
  if (audience !== null && aud !== audience && !(Array.isArray(aud) && aud.includes(audience)))
    return 'the claim aud of the token is missing, or another audience';
  const wrong = Object.entries(wanted).find(
    ([name, text]) => !Object.hasOwn(claims, name) || (claims[name] !== text && JSON.stringify(claims[name]) !== text),
  );
  return wrong === undefined ? null : `the claim ${wrong[0]} of the token is missing, or has another value`;
}

function bodyFault(
  { bodyHashClaim }: TokenRules,
  claims: Readonly<Record<string, unknown>>,
  body: Buffer,
): string | null {
  if (bodyHashClaim === null) return null;
  const given = Object.hasOwn(claims, bodyHashClaim) ? claims[bodyHashClaim] : undefined;
  if (typeof given !== 'string') return `the claim ${bodyHashClaim} of the token is missing`;
  const digest = hash('sha256', body, 'buffer');
  const isOfBody =
    equalText(given.toLowerCase(), digest.toString('hex')) ||
    equalText(given.replace(/=$/, '').replaceAll('+', '-').replaceAll('/', '_'), digest.toString('base64url'));
  return isOfBody ? null : `the claim ${bodyHashClaim} of the token is not the SHA-256 of this body`;
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
    // An invalid key does not match, so that the other keys of the set are tried.
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
        (key.alg === undefined || key.alg === header.alg) &&
        isQuick(key),
    )
    .slice(0, TRIED_MAX);
}

function isQuick({ n, e }: JsonWebKey): boolean {
  return bytesOfNumber(n) <= MODULUS_BYTES_MAX && bytesOfNumber(e) <= EXPONENT_BYTES_MAX;
}

/** Returns the size of a number in base64url. Some encoders put zero bytes in front of it (RFC 7518, section 6.3.1.1). */
function bytesOfNumber(text: unknown): number {
  const bytes = Buffer.from(typeof text === 'string' ? text : '', 'base64url');
  const first = bytes.findIndex((byte) => byte !== 0);
  return first === -1 ? 0 : bytes.length - first;
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
