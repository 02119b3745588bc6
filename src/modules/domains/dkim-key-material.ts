import { createPrivateKey, createPublicKey, generateKeyPair, type KeyObject } from 'node:crypto';
import { promisify } from 'node:util';
import type { DkimAlgorithm } from '#engine/mail/domain-keys.js';

const MODULUS_BITS = 2048;
const ED25519_BYTES = 32;
const generate = promisify(generateKeyPair);

/** Generates a private key. RSA takes up to a second. */
export async function makeKey(algorithm: DkimAlgorithm): Promise<KeyObject> {
  const { privateKey } =
    algorithm === 'ed25519' ? await generate('ed25519') : await generate('rsa', { modulusLength: MODULUS_BITS });
  return privateKey;
}

/**
 * Returns the value of `p=` in base64: SubjectPublicKeyInfo for RSA (RFC 6376, section 3.6.1), and the bare key for
 * Ed25519 (RFC 8463, section 4).
 */
export function publicTextOf(privateKey: KeyObject): string {
  const der = createPublicKey(privateKey).export({ format: 'der', type: 'spki' });
  return (privateKey.asymmetricKeyType === 'ed25519' ? der.subarray(-ED25519_BYTES) : der).toString('base64');
}

export function privateBytesOf(privateKey: KeyObject): Buffer {
  return privateKey.export({ format: 'der', type: 'pkcs8' });
}

/**
 * Reads a private key in PKCS #8. Throws if the key does not match the published public key: sending no mail is better
 * than sending mail with a signature that all receivers would reject.
 */
export function readPrivateKey(
  der: Buffer,
  { selector, publicKey }: { selector: string; publicKey: string },
): KeyObject {
  const privateKey = createPrivateKey({ key: der, format: 'der', type: 'pkcs8' });
  if (publicTextOf(privateKey) !== publicKey)
    throw new Error(`The DKIM key of ${selector} does not belong to its record.`);
  return privateKey;
}
