import { Buffer } from 'node:buffer';
import { brotliDecompressSync, gunzipSync, inflateSync, type ZlibOptions } from 'node:zlib';
import { headerOf, type ReceivedRequest } from './request.js';

type Packed = Pick<ReceivedRequest, 'headers' | 'body'>;

/** Maximum decompressed size, equal to the limit of an uncompressed body. Prevents decompression bombs. */
const UNPACKED_BYTES_MAX = 1024 * 1024;
const UNPACKERS: ReadonlyMap<string, (body: Buffer, options: ZlibOptions) => Buffer> = new Map([
  ['gzip', gunzipSync],
  ['x-gzip', gunzipSync],
  ['deflate', inflateSync],
  ['br', brotliDecompressSync],
]);
const NOTHING = Buffer.alloc(0);

/** Cache of decompressed bodies, because several steps read the body. */
const known = new WeakMap<Buffer, { body: Buffer | null }>();

/** Returns the decompressed body, or null if that fails or exceeds 1 MB. The received bytes stay unchanged. */
export function unpackedBody(request: Packed): Buffer | null {
  const encoding = headerOf(request, 'content-encoding');
  const unpack = encoding === undefined ? undefined : UNPACKERS.get(encoding.trim().toLowerCase());
  if (unpack === undefined || request.body.length === 0) return request.body;
  const found = known.get(request.body) ?? { body: unpackedBy(unpack, request.body) };
  known.set(request.body, found);
  return found.body;
}

/** Returns the request with its body decompressed, or with an empty body if that fails. */
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
