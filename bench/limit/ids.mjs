import { randomFillSync } from 'node:crypto';

const CROCKFORD = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';
const RANDOM_BYTES = 8192;
const pool = Buffer.alloc(RANDOM_BYTES);
let used = RANDOM_BYTES;

/** Returns 16 bytes that sort by creation time (48 bits of milliseconds, 80 random bits), as in a ULID. */
export function newId() {
  if (used === RANDOM_BYTES) {
    randomFillSync(pool);
    used = 0;
  }
  const id = Buffer.allocUnsafe(16);
  id.writeUIntBE(Date.now(), 0, 6);
  pool.copy(id, 6, used, used + 10);
  used += 16;
  return id;
}

/** Returns an id as the 26 characters of a ULID. @param {Buffer} id */
export function showId(id) {
  let text = '';
  // 130 bits: two leading zeros, then the 128 bits of the id.
  for (let i = 0, bits = 2, held = 0, at = 0; i < 26; i++) {
    for (; bits < 5; bits += 8) held = ((held << 8) | id.readUInt8(at++)) & 0xfff;
    bits -= 5;
    text += CROCKFORD[(held >> bits) & 31];
  }
  return text;
}
