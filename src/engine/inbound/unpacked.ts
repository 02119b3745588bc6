import { Buffer } from 'node:buffer';
import { brotliDecompressSync, gunzipSync, inflateSync, type ZlibOptions } from 'node:zlib';
import { headerOf, type ReceivedRequest } from './request.js';

type Packed = Pick<ReceivedRequest, 'headers' | 'body'>;

/** Maximum decompressed size, equal to the limit of an uncompressed body. Protects against decompression bombs. */
const UNPACKED_BYTES_MAX = 1024 * 1024;
const UNPACKERS: ReadonlyMap<string, (body: Buffer, options: ZlibOptions) => Buffer> = new Map([
  ['gzip', gunzipSync],
  ['x-gzip', gunzipSync],
  ['deflate', inflateSync],
  ['br', brotliDecompressSync],
]);
const NOTHING = Buffer.alloc(0);

/** Cache per request: everything that reads the body, except the signature verification, needs it decompressed. */
const known = new WeakMap<Buffer, { body: Buffer | null }>();

/** Returns null if decoding fails or exceeds 1 MB. Storage, verification and delivery use the bytes as received. */
export function unpackedBody(request: Packed): Buffer | null {
  const encoding = headerOf(request, 'content-encoding');
  const unpack = encoding === undefined ? undefined : UNPACKERS.get(encoding.trim().toLowerCase());
  if (unpack === undefined || request.body.length === 0) return request.body;
  const found = known.get(request.body) ?? { body: unpackedBy(unpack, request.body) };
  known.set(request.body, found);
  return found.body;
}

/** The body is empty if it cannot be decompressed. */
export function unpacked<T extends Packed>(request: T): T {
  const body = unpackedBody(request);
  return body === request.body ? request : { ...request, body: body ?? NOTHING };
}

function unpackedBy(unpack: (body: Buffer, options: ZlibOptions) => Buffer, body: Buffer): Buffer | null {
  try {
    return unpack(body, { maxOutputLength: UNPACKED_BYTES_MAX });
  } catch {
    return null;
  }
}
