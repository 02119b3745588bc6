import { Buffer } from 'node:buffer';
import { createHmac, hash } from 'node:crypto';

/** SHA-256 processes blocks of 64 bytes and returns 32 bytes. */
const BLOCK = 64;
const DIGEST = 32;
/** Maximum length of a message that is copied to the shared buffer. Longer messages are hashed without a copy. */
const COPIED_MAX = 16_384;

/** The padded keys of HMAC (RFC 2104, section 2): `inner` precedes the message, `outer` precedes the inner hash. */
interface Pads {
  inner: Buffer;
  outer: Buffer;
}

const padsOf = new WeakMap<Buffer, Pads>();
/** Buffer that all calls share, because each hash is computed synchronously. */
const message = Buffer.allocUnsafe(BLOCK + 3 * COPIED_MAX);
const result = Buffer.allocUnsafe(BLOCK + DIGEST);

/**
 * Returns the HMAC-SHA-256 of `prefix` and `body` in base64 (RFC 2104). Strings are UTF-8. Caches the prepared key per
 * Buffer object, because `createHmac` would prepare the key again for each message.
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
  // Writes the inner hash as a binary string, which is cheaper than a separate Buffer.
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
