import type { ReceivedRequest } from './request.js';

export type HashName = 'sha1' | 'sha256' | 'sha512';

/** Encoding of a signature. `either`: hex or base64, which are distinguished by the length of the signature. */
export type SignatureEncoding = 'hex' | 'base64' | 'either';

/** Encoding of a secret. `whsec` is base64 after an optional prefix `whsec_`. */
export type KeyEncoding = 'utf8' | 'base64' | 'hex' | 'whsec';

/** A signed header or query parameter, which may occur only once. `isLowerCased`: the value is signed in lower case. */
export type SignedValue = { header: string } | { query: string; isLowerCased?: true };

/**
 * A part of the signed content. `decoded-url` is the URL with some characters decoded, as HubSpot signs it. A part with
 * `before` and `after` is omitted if the request lacks its value.
 */
export type SignedPart =
  | 'body'
  | 'decompressed-body'
  | 'timestamp'
  | 'method'
  | 'url'
  | 'decoded-url'
  | SignedValue
  | { literal: string }
  | { before: string; value: SignedValue; after: string };

export interface TimestampRule {
  from: { header: string } | { member: string } | 'list';
  /** `rfc3339`: date and time with an offset. `either`: seconds, milliseconds (by the number of digits) or RFC 3339. */
  unit: 's' | 'ms' | 'either' | 'rfc3339';
  /** Maximum difference to the current time in seconds. Null if the provider sets no limit. */
  toleranceSeconds: number | null;
  /** If set, a timestamp in the future is accepted: only the age is limited. */
  ageOnly?: true;
}

export const LIST_SEPARATORS = [',', ';', ' ', '&', '|'] as const;

/**
 * A header with several parts, such as `t=…,v1=…`. `signature` and `timestamp` are names of parts. Several parts may
 * have the signature's name. Without `signature`, every part is a signature.
 */
export interface HeaderList {
  separator: (typeof LIST_SEPARATORS)[number];
  signature?: string;
  timestamp?: string;
}

export interface HmacScheme {
  kind: 'hmac';
  hash: HashName;
  /** Names of the headers that may hold the signature, in lower case. */
  headers: readonly string[];
  prefix?: string;
  prefixOptional?: true;
  list?: HeaderList;
  encoding: SignatureEncoding;
  keyEncoding: KeyEncoding;
  signed: readonly SignedPart[];
  timestamp?: TimestampRule;
  /** If set, a signature over the body as reserialized by `JSON.stringify` is also accepted. */
  alsoReserialized?: true;
}

/** Standard Webhooks: `v1` with a secret `whsec_…`, `v1a` with a public key `whpk_…`. */
export interface StandardScheme {
  kind: 'standard-webhooks';
  /** Prefixes of the three header names, such as `webhook-`. The first prefix that is present is used. */
  prefixes: readonly string[];
  toleranceSeconds: number;
}

/**
 * A signature over the `signed` parts, created with the sender's private key. The endpoint's secret is the public key.
 */
export interface PublicKeyScheme {
  kind: 'public-key';
  algorithm: 'rsa-sha256' | 'ed25519';
  header: string;
  prefix?: string;
  list?: HeaderList;
  encoding: 'hex' | 'base64' | 'either';
  signed: readonly SignedPart[];
  timestamp?: TimestampRule;
}

/** Requirements for a JSON Web Token. */
export interface TokenRules {
  /** Header of the token. `authorization` may start with `Bearer`. Any other header contains only the token. */
  header: string;
  issuer: string | null;
  audience: string | null;
  claims: Readonly<Record<string, string>>;
  /** Claim with the body's SHA-256, in hex, base64 or base64url. */
  bodyHashClaim: string | null;
  /** Maximum age of a token without `exp`. */
  maxAgeSeconds: number;
  /** Accepts a token without `exp` and `iat`. Only for tokens that contain the hash of the body. */
  isTimeless?: true;
}

export interface JwtScheme extends TokenRules {
  kind: 'jwt';
  jwksUrl: string;
}

export type JwtHmac = 'HS256' | 'HS384' | 'HS512';

/** A token that is signed with the endpoint's secret. */
export interface SharedJwtScheme extends TokenRules {
  kind: 'shared-jwt';
  algorithms: readonly JwtHmac[];
  keyEncoding: KeyEncoding;
}

/** Scheme that is verified by code outside of the engine. The promise of `verify` rejects if the code cannot decide. */
export interface CodeScheme {
  kind: 'code';
  verify: Verifier;
  /** Names of headers that are credentials themselves, in lower case. */
  secretHeaders: readonly string[];
}

/** Returns whether the sender has one of `secrets`, which contains at least one secret. The newest secret is first. */
export type Verifier = (
  request: ReceivedRequest,
  secrets: readonly string[],
  nowMs: number,
) => boolean | Promise<boolean>;

/**
 * Method by which a request proves its origin. If a method does not define its secret, the secret is the text that the
 * provider displays.
 */
export type Scheme =
  | HmacScheme
  | StandardScheme
  /** Ed25519 over timestamp and body. The signature and the public key are in hex. */
  | { kind: 'ed25519'; signatureHeader: string; timestampHeader: string }
  /** ECDSA with SHA-256 over timestamp and body. The signature is in base64 DER, the public key in base64 SPKI. */
  | { kind: 'ecdsa'; signatureHeader: string; timestampHeader: string }
  /** The whole value of the header must equal the secret. */
  | { kind: 'token'; header: string }
  /** The value of the query parameter is the secret. */
  | { kind: 'query-token'; name: string }
  /** HTTP Basic. The secret is `user:password`. */
  | { kind: 'basic' }
  /** The body holds signature, timestamp and token. The signature does not cover the body. */
  | { kind: 'mailgun' }
  /** Every item of the body has a signature. The key is encoded in hex. */
  | { kind: 'adyen' }
  /** Every item of the body contains the secret. */
  | { kind: 'client-state' }
  | { kind: 'twilio' }
  /** The `Authorization` header contains `Bearer` and the secret. */
  | { kind: 'bearer' }
  | PublicKeyScheme
  | JwtScheme
  | SharedJwtScheme
  /** RSA with a certificate that PayPal publishes. The secret is the id of the webhook, which the signature covers. */
  | { kind: 'paypal' }
  /**
   * RSA with a certificate of AWS, which signs the messages of all topics and accounts. Each secret is therefore the
   * ARN of an accepted topic.
   */
  | { kind: 'sns' }
  | CodeScheme
  | { kind: 'none' };
