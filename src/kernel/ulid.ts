import { Buffer } from 'node:buffer';

/** Crockford's base 32: no I, L, O and U. */
const ALPHABET = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';
const TEXT_LENGTH = 26;
const ULID_BYTES = 16;
const TIME_BYTES = 6;
const RANDOM_BYTES = ULID_BYTES - TIME_BYTES;
const TIME_MAX_MS = 2 ** 48 - 1;
const INVALID = 0xff;
/** 26 characters of 5 bits hold 130 bits. The first two bits are zero, so the highest ULID begins with 7. */
const LEADING_BITS = 2;

const CODES = Uint8Array.from(ALPHABET, (char) => char.charCodeAt(0));
/** Buffer that every call overwrites. The resulting text is a copy. */
const codes = new Array<number>(TEXT_LENGTH).fill(0);
const VALUES = new Uint8Array(128).fill(INVALID);
for (const [value, char] of [...ALPHABET].entries()) {
  VALUES[char.charCodeAt(0)] = value;
  VALUES[char.toLowerCase().charCodeAt(0)] = value;
}

/** Returns 26 upper-case characters that sort like the bytes. @throws RangeError unless there are 16 bytes. */
export function encodeUlid(bytes: Uint8Array): string {
  assertLength(bytes, ULID_BYTES);
  let at = 0;
  let pending = 0;
  let pendingBits = LEADING_BITS;
  for (let i = 0; i < ULID_BYTES; i += 1) {
    pending = ((pending << 8) | (bytes[i] as number)) & 0xfff;
    pendingBits += 8;
    while (pendingBits >= 5) {
      pendingBits -= 5;
      codes[at] = CODES[(pending >> pendingBits) & 31] as number;
      at += 1;
    }
  }
  return String.fromCharCode.apply(null, codes);
}

/**
 * Decodes upper or lower case. Returns null for other input. Rejects Crockford's aliases (I and L for 1, O for 0),
 * because one resource must not have two ids.
 */
export function decodeUlid(text: string): Buffer | null {
  const bytes = Buffer.allocUnsafe(ULID_BYTES);
  return readUlid(bytes, text, 0) ? bytes : null;
}

/**
 * Decodes the ULID at `text[from…]` into `bytes`. Returns false if the ULID is invalid, but may have changed `bytes`.
 */
export function readUlid(bytes: Uint8Array, text: string, from: number): boolean {
  if (text.length - from !== TEXT_LENGTH) return false;
  let at = 0;
  let pending = 0;
  let pendingBits = -LEADING_BITS;
  for (let i = 0; i < TEXT_LENGTH; i += 1) {
    const value = VALUES[text.charCodeAt(from + i)] ?? INVALID;
    if (value === INVALID || (i === 0 && value > 7)) return false;
    pending = ((pending << 5) | value) & 0xfff;
    pendingBits += 5;
    if (pendingBits < 8) continue;
    pendingBits -= 8;
    bytes[at] = pending >> pendingBits;
    at += 1;
  }
  return true;
}

/** Returns the time of a ULID in milliseconds since the epoch. @throws RangeError unless there are 16 bytes. */
export function ulidTime(bytes: Uint8Array): number {
  assertLength(bytes, ULID_BYTES);
  let timeMs = 0;
  // Multiplies instead of shifting, because 48 bits exceed the range of bitwise operators.
  for (let i = 0; i < TIME_BYTES; i += 1) timeMs = timeMs * 256 + (bytes[i] as number);
  return timeMs;
}

/** Builds a ULID, in `bytes` if given. @throws RangeError if the time or the 10 random bytes are out of range. */
export function ulidBytes(timeMs: number, random: Uint8Array, bytes: Buffer = Buffer.allocUnsafe(ULID_BYTES)): Buffer {
  if (!Number.isInteger(timeMs) || timeMs < 0 || timeMs > TIME_MAX_MS) {
    throw new RangeError('The time of a ULID must be an integer number of milliseconds in 48 bits.');
  }
  assertLength(random, RANDOM_BYTES);
  bytes.writeUIntBE(timeMs, 0, TIME_BYTES);
  bytes.set(random, TIME_BYTES);
  return bytes;
}

/**
 * Increments the random bits, so that ids of the same millisecond ascend.
 *
 * @throws RangeError if the random bits overflow, as the ULID specification requires, or if `bytes` is not 16 bytes
 * long. The bytes are unchanged in that case.
 */
export function incrementUlid(bytes: Uint8Array): void {
  assertLength(bytes, ULID_BYTES);
  let at = ULID_BYTES - 1;
  while (at >= TIME_BYTES && bytes[at] === 0xff) at -= 1;
  if (at < TIME_BYTES) throw new RangeError('The ULIDs of this millisecond are exhausted.');
  bytes[at] = (bytes[at] as number) + 1;
  bytes.fill(0, at + 1);
}

function assertLength(bytes: Uint8Array, expected: number): void {
  if (bytes.length !== expected) throw new RangeError(`Expected ${expected} bytes, not ${bytes.length}.`);
}
