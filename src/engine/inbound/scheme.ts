import type { ReceivedRequest } from './request.js';

export type HashName = 'sha1' | 'sha256' | 'sha512';

/** `either` distinguishes hex and base64 by the length. */
export type SignatureEncoding = 'hex' | 'base64' | 'either';

/** `whsec` is base64 after an optional `whsec_`. */
export type KeyEncoding = 'utf8' | 'base64' | 'hex' | 'whsec';

/** Parts are signed in order. `decoded-url` has some percent-encoded characters decoded, as HubSpot signs it. */
export type SignedPart =
  'body' | 'timestamp' | 'method' | 'url' | 'decoded-url' | { header: string } | { literal: string };

export interface TimestampRule {
  from: { header: string } | { member: string } | 'list';
  /** `either`: the number of digits tells milliseconds from seconds. `rfc3339`: date and time with an offset. */
  unit: 's' | 'ms' | 'either' | 'rfc3339';
  /** Null if the provider sets no limit. */
  toleranceSeconds: number | null;
  /** Limits the age only: a time in the future is accepted. */
  ageOnly?: true;
}

export interface HmacScheme {
  kind: 'hmac';
  hash: HashName;
  /** Names of the headers that may hold the signature, in lower case. */
  headers: readonly string[];
  prefix?: string;
  prefixOptional?: true;
  /** The header is a list such as `t=…,v1=…`. The name of a signature may occur several times. */
  list?: { separator: ',' | ';'; signature: string; timestamp: string };
  encoding: SignatureEncoding;
  keyEncoding: KeyEncoding;
  signed: readonly SignedPart[];
  timestamp?: TimestampRule;
  /** Also accepts a signature over the JSON body as `JSON.stringify` formats it. */
  alsoReserialized?: true;
}

/** Standard Webhooks: `v1` with a secret `whsec_…`, `v1a` with a public key `whpk_…`. */
export interface StandardScheme {
  kind: 'standard-webhooks';
  /** Prefixes of the three header names, such as `webhook-`. The first prefix that is present is used. */
  prefixes: readonly string[];
  toleranceSeconds: number;
}

/** A signature by a key of the sender over the `signed` parts. The secret is the public key. */
export interface PublicKeyScheme {
  kind: 'public-key';
  algorithm: 'rsa-sha256' | 'ed25519';
  header: string;
  prefix?: string;
  encoding: 'hex' | 'base64' | 'either';
  signed: readonly SignedPart[];
  timestamp?: TimestampRule;
}

export interface JwtScheme {
  kind: 'jwt';
  /** `authorization` holds the token after `Bearer`. Any other header holds only the token. */
  header: string;
  jwksUrl: string;
  issuer: string | null;
  audience: string | null;
  claims: Readonly<Record<string, string>>;
  /** Token member with the body's SHA-256, in hex or base64url. */
  bodyHashClaim: string | null;
  maxAgeSeconds: number;
}

/** Code outside of the engine decides. Rejects if the code cannot decide. */
export interface CodeScheme {
  kind: 'code';
  verify: Verifier;
  /** Names of headers that authenticate by themselves, in lower case. */
  secretHeaders: readonly string[];
}

/** Returns whether the sender knows one of the secrets, newest first. There is at least one. */
export type Verifier = (
  request: ReceivedRequest,
  secrets: readonly string[],
  nowMs: number,
) => boolean | Promise<boolean>;

/** How a request proves its origin. Unless noted, a secret is the text that the provider's console shows. */
export type Scheme =
  | HmacScheme
  | StandardScheme
  /** Ed25519 over timestamp and body; the signature and the public key are hex. */
  | { kind: 'ed25519'; signatureHeader: string; timestampHeader: string }
  /** ECDSA with SHA-256 over timestamp and body; signature in base64 DER, public key in base64 SPKI. */
  | { kind: 'ecdsa'; signatureHeader: string; timestampHeader: string }
  /** The whole value of the header is the secret. */
  | { kind: 'token'; header: string }
  /** HTTP Basic. The secret is `user:password`. */
  | { kind: 'basic' }
  /** The body holds signature, timestamp and token. The signature does not cover the body. */
  | { kind: 'mailgun' }
  /** Every item of the body has a signature. The key is hex. */
  | { kind: 'adyen' }
  /** Every item of the body repeats the secret. */
  | { kind: 'client-state' }
  | { kind: 'twilio' }
  /** `Authorization: Bearer` with the secret. */
  | { kind: 'bearer' }
  | PublicKeyScheme
  | JwtScheme
  /** RSA with a certificate that PayPal publishes. A secret is the id of the webhook, which the signature covers. */
  | { kind: 'paypal' }
  /** RSA with an AWS certificate that is valid for all topics and accounts. A secret is an accepted topic's ARN. */
  | { kind: 'sns' }
  | CodeScheme
  | { kind: 'none' };
