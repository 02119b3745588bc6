import { hash } from 'node:crypto';

const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const BASE = BigInt(ALPHABET.length);
const RANDOM_BYTES = 32;
/** Digits that 32 random bytes need in base62: 62^43 is the first power above 2^256. */
const RANDOM_LENGTH = 43;
const CHECKSUM_LENGTH = 6;
const PREFIX_LENGTH = 12;
const FORM = /^ek_(?:live|test)_[0-9A-Za-z]{20,100}$/;

/**
 * Generates an API key: `ek_live_` or `ek_test_`, 32 random bytes as 43 characters in base62, and a checksum of 6
 * characters. The checksum lets clients and secret scanners detect a typo without a request. It is the first 32 bits of
 * the SHA-256 of all preceding characters, in base62.
 * @throws RangeError unless there are 32 random bytes
 */
export function generateApiKey(mode: 'live' | 'test', random: Buffer): string {
  if (random.length !== RANDOM_BYTES) throw new RangeError(`An API key takes ${RANDOM_BYTES} random bytes.`);
  const text = `ek_${mode}_${base62(BigInt(`0x${random.toString('hex')}`), RANDOM_LENGTH)}`;
  return text + checksum(text);
}

/**
 * Returns true if the text can be an API key. Does not verify the checksum, which is meant for clients and scanners. An
 * operator's BOOTSTRAP_API_KEY has no checksum.
 */
export function hasApiKeyForm(text: string): boolean {
  return FORM.test(text);
}

/** Returns the stored form of a key: its SHA-256. A slow hash is unnecessary because keys have 256 random bits. */
export function hashApiKey(text: string): Buffer {
  return Buffer.from(hash('sha256', text), 'hex');
}

/** Returns the first characters, by which users recognize a key: `ek_live_4fQa`. */
export function keyPrefix(text: string): string {
  return text.slice(0, PREFIX_LENGTH);
}

export function keyMode(text: string): 'live' | 'test' {
  return text.startsWith('ek_live_') ? 'live' : 'test';
}

function checksum(text: string): string {
  let rest = Number.parseInt(hash('sha256', text).slice(0, 8), 16);
  let digits = '';
  for (let i = 0; i < CHECKSUM_LENGTH; i += 1) {
    digits = ALPHABET.charAt(rest % ALPHABET.length) + digits;
    rest = Math.floor(rest / ALPHABET.length);
  }
  return digits;
}

function base62(value: bigint, length: number): string {
  let digits = '';
  for (let rest = value; rest > 0n; rest /= BASE) digits = ALPHABET.charAt(Number(rest % BASE)) + digits;
  return digits.padStart(length, '0');
}
