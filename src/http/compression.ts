import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { type ContentCoding, preferredCoding } from './content-coding.js';

/** Below this the headers and the call cost more than the bytes. */
const BYTES_MIN = 1_024;
/** What is compressed at once: on the threads that name servers and files need too, so the rest goes out as it is. */
const RUNNING_MAX = 2;
const GZIP_LEVEL = 6;
const BROTLI_QUALITY = 4;

/**
 * What is compressed: answers to reads of the API, and its document. Not what is pulled: consumers fetch all day, and the cores are for
 * deliveries. Not what shows a secret, in whichever answer: its length would tell of it to who may choose what stands beside it (BREACH).
 * The rest is read with a bearer key, which no foreign page can make a browser send.
 */
const COMPRESSED = /^\/(?:v1\/(?!pull\b)|openapi\.json$)/;
const SHOWS_SECRET = /secret|\/keys\b|\/raw$|\/payload$/;

const ENCODERS: Record<ContentCoding, (bytes: Buffer) => Promise<Buffer>> = {
  br: (bytes) =>
    promisify(brotliCompress)(bytes, {
      params: { [constants.BROTLI_PARAM_QUALITY]: BROTLI_QUALITY, [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length },
    }),
  gzip: (bytes) => promisify(gzip)(bytes, { level: GZIP_LEVEL }),
};

type Sent = (error: null, payload: unknown) => void;

/** Compresses large answers for who accepts it: before Fastify counts their bytes, and off the event loop. */
export function registerCompression(fastify: FastifyInstance): void {
  let running = 0;
  fastify.addHook('onSend', (request: FastifyRequest, reply: FastifyReply, payload: unknown, done: Sent) => {
    if (!isCompressible(request, reply, payload)) return done(null, payload);
    const vary = reply.getHeader('vary');
    reply.header('vary', vary === undefined ? 'accept-encoding' : `${String(vary)}, accept-encoding`);
    const encoding = preferredCoding(request.headers['accept-encoding']);
    if (encoding === null || running >= RUNNING_MAX) return done(null, payload);
    running += 1;
    void ENCODERS[encoding](Buffer.from(payload)).then(
      (compressed) => {
        running -= 1;
        reply.removeHeader('content-length');
        reply.header('content-encoding', encoding);
        done(null, compressed);
      },
      () => {
        running -= 1;
        done(null, payload);
      },
    );
  });
}

function isCompressible(request: FastifyRequest, reply: FastifyReply, payload: unknown): payload is string {
  if (
    typeof payload !== 'string' ||
    payload.length < BYTES_MIN ||
    (request.method !== 'GET' && request.method !== 'HEAD')
  )
    return false;
  const route = request.routeOptions.url ?? '';
  if (!COMPRESSED.test(route) || SHOWS_SECRET.test(route)) return false;
  // What names its very bytes, or is in a form already, stays as it is.
  return !['content-encoding', 'content-range', 'etag'].some((header) => reply.hasHeader(header));
}
