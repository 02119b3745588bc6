import { Buffer } from 'node:buffer';
import { brotliDecompressSync, gunzipSync, inflateSync, type ZlibOptions } from 'node:zlib';
import { headerOf, type ReceivedRequest } from './request.js';

type Packed = Pick<ReceivedRequest, 'headers' | 'body'>;

/** As much as a body may have that comes as it is: what unpacks to more is a bomb, and cut off here. */
const UNPACKED_BYTES_MAX = 1024 * 1024;
const UNPACKERS: ReadonlyMap<string, (body: Buffer, options: ZlibOptions) => Buffer> = new Map([
  ['gzip', gunzipSync],
  ['x-gzip', gunzipSync],
  ['deflate', inflateSync],
  ['br', brotliDecompressSync],
]);
const NOTHING = Buffer.alloc(0);

/** Once per request: verifying apart, everybody who looks into the body asks. */
const known = new WeakMap<Buffer, { body: Buffer | null }>();

/**
 * The body as its sender means it, without the `content-encoding` that it came in; null where it is not what that says, or
 * over a megabyte. What is stored, verified and delivered are the bytes as they came.
 */
export function unpackedBody(request: Packed): Buffer | null {
  const encoding = headerOf(request, 'content-encoding');
  const unpack = encoding === undefined ? undefined : UNPACKERS.get(encoding.trim().toLowerCase());
  if (unpack === undefined || request.body.length === 0) return request.body;
  const found = known.get(request.body) ?? { body: unpackedBy(unpack, request.body) };
  known.set(request.body, found);
  return found.body;
}

/** The request with its body unpacked; empty where that can't be had. */
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
