import { hash } from 'node:crypto';

const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const BASE = BigInt(ALPHABET.length);
const RANDOM_BYTES = 32;
/** 62^43 is the first power above 2^256. */
const RANDOM_LENGTH = 43;
const CHECKSUM_LENGTH = 6;
const PREFIX_LENGTH = 12;
const FORM = /^ek_(?:live|test)_[0-9A-Za-z]{20,100}$/;

/**
 * A new API key: `ek_live_` or `ek_test_`, 32 random bytes as 43 characters in base62, and a checksum of 6 (contract,
 * section 2).
 *
 * The checksum lets clients and secret scanners refuse a typo without asking us. It is the first 32 bits of the
 * SHA-256 of everything before it, in base62.
 * @throws RangeError unless there are 32 random bytes
 */
export function generateApiKey(mode: 'live' | 'test', random: Buffer): string {
  if (random.length !== RANDOM_BYTES) throw new RangeError(`An API key takes ${RANDOM_BYTES} random bytes.`);
  const text = `ek_${mode}_${base62(BigInt(`0x${random.toString('hex')}`), RANDOM_LENGTH)}`;
  return text + checksum(text);
}

/**
 * Whether the text can be an API key. The checksum is not asked for: it is for clients and scanners, and a key that an
 * operator made up for BOOTSTRAP_API_KEY has none.
 */
export function hasApiKeyForm(text: string): boolean {
  return FORM.test(text);
}

/** What is stored of a key: SHA-256, which is enough for 256 bits of chance. */
export function hashApiKey(text: string): Buffer {
  return Buffer.from(hash('sha256', text), 'hex');
}

/** The characters by which people recognize a key: `ek_live_4fQa`. */
export function keyPrefix(text: string): string {
  return text.slice(0, PREFIX_LENGTH);
}

/** The environment that a key of valid form belongs to. */
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
