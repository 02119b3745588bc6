/** The hash under an HMAC. */
export type HashName = 'sha1' | 'sha256' | 'sha512';

/** How a signature is written; `either` tells hex from base64 by the length. */
export type SignatureEncoding = 'hex' | 'base64' | 'either';

/** How the key stands in the secret; `whsec` is base64 behind an optional `whsec_`. */
export type KeyEncoding = 'utf8' | 'base64' | 'hex' | 'whsec';

/** One piece of what is signed, in order. `decoded-url` has some percent-encoded characters decoded, as HubSpot signs it. */
export type SignedPart =
  'body' | 'timestamp' | 'method' | 'url' | 'decoded-url' | { header: string } | { literal: string };

/** Where the time of signing stands, and how far it may be from now. */
export interface TimestampRule {
  /** A header, a member of the JSON body, or the list that also holds the signature. */
  from: { header: string } | { member: string } | 'list';
  /** `either` tells milliseconds from seconds by the length; `rfc3339` is a date and time with an offset. */
  unit: 's' | 'ms' | 'either' | 'rfc3339';
  /** Null where the provider sets no limit. */
  toleranceSeconds: number | null;
  /** The limit is on the age only: a time in the future is taken. */
  ageOnly?: true;
}

export interface HmacScheme {
  kind: 'hmac';
  hash: HashName;
  /** Any of these headers may hold the signature, names in lower case. */
  headers: readonly string[];
  /** What stands before the signature. */
  prefix?: string;
  /** The signature also counts without its prefix. */
  prefixOptional?: true;
  /** The header is a list such as `t=…,v1=…`; the name of a signature may occur several times. */
  list?: { separator: ',' | ';'; signature: string; timestamp: string };
  encoding: SignatureEncoding;
  keyEncoding: KeyEncoding;
  signed: readonly SignedPart[];
  timestamp?: TimestampRule;
  /** A signature over the body as `JSON.stringify` writes it counts too. */
  alsoReserialized?: true;
}

/** Standard Webhooks: `v1` with a secret `whsec_…`, `v1a` with a public key `whpk_…`. */
export interface StandardScheme {
  kind: 'standard-webhooks';
  /** Beginnings of the three header names (`webhook-`), the first one that is there counts. */
  prefixes: readonly string[];
  toleranceSeconds: number;
}

/** A signature by a key of the sender's, over what `signed` says; the secret is the public key. */
export interface PublicKeyScheme {
  kind: 'public-key';
  algorithm: 'rsa-sha256' | 'ed25519';
  header: string;
  prefix?: string;
  encoding: 'hex' | 'base64' | 'either';
  signed: readonly SignedPart[];
  timestamp?: TimestampRule;
}

/** A JSON Web Token (RFC 7519) by a key of a set that the sender publishes. */
export interface JwtScheme {
  kind: 'jwt';
  /** `authorization` holds it behind `Bearer`, any other header alone. */
  header: string;
  jwksUrl: string;
  issuer: string | null;
  audience: string | null;
  /** Members that the token must have, with these very texts. */
  claims: Readonly<Record<string, string>>;
  /** The member that is the SHA-256 of the body in hex or base64url. */
  bodyHashClaim: string | null;
  /** How old a token may be that does not say itself when it ends. */
  maxAgeSeconds: number;
}

/** How a provider's request proves where it comes from. A secret is what the provider's console shows, unless said otherwise. */
export type Scheme =
  | HmacScheme
  | StandardScheme
  /** Ed25519 over timestamp and body; the signature and the public key are hex. */
  | { kind: 'ed25519'; signatureHeader: string; timestampHeader: string }
  /** ECDSA with SHA-256 over timestamp and body; signature in base64 DER, public key in base64 SPKI. */
  | { kind: 'ecdsa'; signatureHeader: string; timestampHeader: string }
  /** The whole header is the secret. */
  | { kind: 'token'; header: string }
  /** HTTP Basic; the secret is `user:password`. */
  | { kind: 'basic' }
  /** Signature, timestamp and token stand in the body, and the body is not covered. */
  | { kind: 'mailgun' }
  /** Every item of the body has its signature; the key is hex. */
  | { kind: 'adyen' }
  /** Every item of the body repeats the secret. */
  | { kind: 'client-state' }
  | { kind: 'twilio' }
  /** `Authorization: Bearer` and the secret. */
  | { kind: 'bearer' }
  | PublicKeyScheme
  | JwtScheme
  /** RSA with a certificate that PayPal publishes; a secret is the id of the webhook, which the signature covers. */
  | { kind: 'paypal' }
  /** RSA with a certificate that AWS publishes, so that any topic of any account passes: a secret is the ARN of a topic to take. */
  | { kind: 'sns' }
  /** Nothing is verified. */
  | { kind: 'none' };
