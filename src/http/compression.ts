import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { type ContentCoding, preferredCoding } from './content-coding.js';

/** Minimum size of a compressed response. Below it, the headers and the call cost more than the saved bytes. */
const BYTES_MIN = 1_024;
/**
 * Maximum number of concurrent compressions, because they share the thread pool. Above it, responses stay uncompressed.
 */
const RUNNING_MAX = 2;
const GZIP_LEVEL = 6;
const BROTLI_QUALITY = 4;

/**
 * Paths whose responses are compressed: reads (GET, HEAD) of the API, and the OpenAPI document.
 *
 * - Pulled messages are excluded, because consumers fetch them continuously and deliveries need the CPU.
 * - Responses with a secret are excluded, because their length could reveal it to an attacker who controls text in the
 *   response (BREACH).
 *
 * All other responses need a bearer key, which an attacker's page cannot make a browser send.
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

/** Registers the compression of responses, which runs off the event loop and before Fastify computes the length. */
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
  // A response that is already encoded, or whose headers refer to its exact bytes, stays unchanged.
  return !['content-encoding', 'content-range', 'etag'].some((header) => reply.hasHeader(header));
}
