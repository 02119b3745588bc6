import { Buffer } from 'node:buffer';
import { createHmac, hash } from 'node:crypto';

/** SHA-256 takes its input by blocks of 64 bytes and gives 32. */
const BLOCK = 64;
const DIGEST = 32;
/** Up to so many bytes, or characters of three bytes at most, are copied; what is longer is hashed where it lies. */
const COPIED_MAX = 16_384;

/** What is hashed before the message and around its hash (RFC 2104, section 2). */
interface Pads {
  inner: Buffer;
  outer: Buffer;
}

const padsOf = new WeakMap<Buffer, Pads>();
/** One for all, as a hash begins and ends within a call. */
const message = Buffer.allocUnsafe(BLOCK + 3 * COPIED_MAX);
const result = Buffer.allocUnsafe(BLOCK + DIGEST);

/**
 * HMAC-SHA-256 of `prefix` and `body`, in base64 (RFC 2104). Strings are hashed as UTF-8. A key is prepared once, as long as the same
 * Buffer is given: `createHmac` does it for each message, and makes an object for it that has to be collected.
 */
export function hmacSha256(key: Buffer, prefix: string, body: string | Buffer): string {
  if (key.length > BLOCK || prefix.length + body.length > COPIED_MAX) {
    return createHmac('sha256', key).update(prefix).update(body).digest('base64');
  }
  let pads = padsOf.get(key);
  if (pads === undefined) padsOf.set(key, (pads = prepare(key)));
  message.set(pads.inner);
  let end = BLOCK;
  if (typeof body === 'string') {
    end += message.write(prefix + body, end);
  } else {
    end += message.write(prefix, end);
    message.set(body, end);
    end += body.length;
  }
  result.set(pads.outer);
  // As characters and back: a Buffer of its own for the first hash would cost more than both.
  result.write(hash('sha256', message.subarray(0, end), 'binary'), BLOCK, 'binary');
  return hash('sha256', result, 'base64');
}

function prepare(key: Buffer): Pads {
  const pads = { inner: Buffer.alloc(BLOCK, 0x36), outer: Buffer.alloc(BLOCK, 0x5c) };
  for (const [i, byte] of key.entries()) {
    pads.inner.writeUInt8(0x36 ^ byte, i);
    pads.outer.writeUInt8(0x5c ^ byte, i);
  }
  return pads;
}
