import { createPublicKey } from 'node:crypto';
import { decodeBase64, decodeHex, decodeKey, ed25519Key, isPem } from './keys.js';
import { publicKeyOf } from './public-key.js';
import type { KeyEncoding, Scheme } from './scheme.js';

const TOPIC_ARN = /^arn:aws[a-z-]*:sns:[a-z0-9-]+:\d{12}:[\w-]{1,256}(?:\.fifo)?$/;
const EDGE_SPACE = /^\s|\s$/;
/** Node decodes header values as Latin-1, so no header value can equal a secret with other characters. */
const BEYOND_LATIN_1 = /[^\0-\xff]/;
const PUBLIC_KEY = {
  'rsa-sha256':
    'must be an RSA public key of at least 2048 bits, in PEM on one line or base64 of a SubjectPublicKeyInfo',
  ed25519:
    'must be an Ed25519 public key: 32 bytes in hex or base64, PEM on one line, or base64 of a SubjectPublicKeyInfo',
} as const;
/** Rejects a public key as a shared secret, because anyone could sign tokens with the public key. */
const PEM = 'must be the shared secret, not a key in PEM: for a public key, use jwt with jwksUrl';
const ENCODED: Readonly<Record<KeyEncoding, string>> = {
  utf8: 'must not be empty',
  hex: 'must be hexadecimal digits, two for each byte',
  base64: 'must be base64',
  whsec: 'must be base64, with or without whsec_ before it',
};

/** Returns the reason why no request could ever verify with this secret, or null if the secret is usable. */
export function secretFault(scheme: Scheme, secret: string): string | null {
  switch (scheme.kind) {
    case 'hmac':
      return decodeKey(secret, scheme.keyEncoding) === null ? ENCODED[scheme.keyEncoding] : null;
    case 'standard-webhooks':
      return standardFault(secret);
    case 'adyen':
      return decodeHex(secret) === null ? ENCODED.hex : null;
    case 'ed25519':
      return ed25519Key(decodeHex(secret)) === null ? 'must be an Ed25519 public key: 64 hexadecimal digits' : null;
    case 'ecdsa':
      return isEcKey(secret) ? null : 'must be a public key in base64 (SubjectPublicKeyInfo), as the provider shows it';
    case 'sns':
      return TOPIC_ARN.test(secret)
        ? null
        : 'must be the ARN of a topic, such as arn:aws:sns:eu-west-1:123456789012:orders';
    case 'basic':
      return secret.includes(':') ? null : 'must be user:password';
    case 'public-key':
      return publicKeyOf(scheme.algorithm, secret) === null ? PUBLIC_KEY[scheme.algorithm] : null;
    case 'jwt':
      return 'is not needed: a token is verified by the keys at jwksUrl';
    case 'shared-jwt':
      return isPem(secret) ? PEM : decodeKey(secret, scheme.keyEncoding) === null ? ENCODED[scheme.keyEncoding] : null;
    case 'paypal':
      return /^[\w-]{1,64}$/.test(secret) ? null : 'must be the id of the webhook, as PayPal shows it';
    case 'bearer':
      return /\s/.test(secret)
        ? 'must be the token alone: without spaces, and without Bearer before it'
        : headerFault(secret);
    case 'token':
      return headerFault(secret);
    case 'query-token':
    case 'mailgun':
    case 'client-state':
    case 'twilio':
    case 'code':
    case 'none':
      return null;
  }
}

function headerFault(secret: string): string | null {
  if (EDGE_SPACE.test(secret)) return 'must not begin or end with a space: header values are trimmed';
  return BEYOND_LATIN_1.test(secret) ? 'must consist of Latin-1 characters, as header values do' : null;
}

function standardFault(secret: string): string | null {
  if (!secret.startsWith('whpk_'))
    return decodeKey(secret, 'whsec') === null ? 'must be whsec_ and base64, or whpk_ and a public key' : null;
  return ed25519Key(decodeBase64(secret.slice('whpk_'.length))) === null
    ? 'must be whpk_ and the 32 bytes of an Ed25519 public key in base64'
    : null;
}

function isEcKey(secret: string): boolean {
  const der = decodeBase64(secret);
  try {
    return der !== null && createPublicKey({ key: der, format: 'der', type: 'spki' }).asymmetricKeyType === 'ec';
  } catch {
    return false;
  }
}
