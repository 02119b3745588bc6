import { hash } from 'node:crypto';
import type { FastifyRequest } from 'fastify';
import { type ApiError, badRequest, conflict } from '#kernel/errors.js';
import type { IdempotentRequest } from '#kernel/idempotency.js';

const KEY = /^(?:"([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})"|([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}))$/;

/** Pattern of an idempotency key that need not be a UUID: 1 to 256 printable ASCII characters. */
const TEXT_KEY = /^[\x20-\x7e]{1,256}$/;

/** Maximum length of a stored path. A longer path, which would exceed a PostgreSQL index row, is stored as a hash. */
const ROUTE_LENGTH_MAX = 512;

const NO_BODY = Buffer.alloc(0);

/** Types of errors that depend on stored state. An earlier request with the same key may therefore have succeeded. */
const OF_STATE: ReadonlySet<ApiError['type']> = new Set<ApiError['type']>([
  'not_found',
  'conflict',
  'validation_failed',
]);

/**
 * Returns the UUID in the header, with or without quotes. With `takesAnyKey`, derives a UUID from any other text of up
 * to 256 printable characters. Throws 400 for anything else.
 */
export function parseKey(header: string | string[], takesAnyKey = false): string {
  const match = typeof header === 'string' ? KEY.exec(header.trim().toLowerCase()) : null;
  const key = match?.[1] ?? match?.[2];
  if (key !== undefined) return key;
  if (takesAnyKey && typeof header === 'string' && TEXT_KEY.test(header)) return keyOfText(header);
  throw badRequest(
    takesAnyKey
      ? 'The Idempotency-Key header must have 1 to 256 printable ASCII characters.'
      : 'The Idempotency-Key header must be one uuid.',
    { reason: 'key_invalid' },
  );
}

/** Derives the stored UUID (version 8, RFC 9562, section 5.8) from the text of a key. */
export function keyOfText(key: string): string {
  const digits = hash('sha256', key, 'hex');
  return `${digits.slice(0, 8)}-${digits.slice(8, 12)}-8${digits.slice(13, 16)}-8${digits.slice(17, 20)}-${digits.slice(20, 32)}`;
}

/** Returns the idempotency key with its scope, or null if the request has none. Throws 400 for a malformed key. */
export function idempotencyOf(request: FastifyRequest): IdempotentRequest | null {
  const header = request.headers['idempotency-key'];
  if (header === undefined || request.caller === null) return null;
  return {
    environmentId: request.caller.tenant.environmentId,
    route: routeOf(request.method, request.url),
    key: parseKey(header, request.edge.takesAnyKey),
    fingerprint: hash('sha256', request.rawBody ?? NO_BODY, 'buffer'),
  };
}

/** Returns the method and the path as sent, without the query. A long path is replaced by its hash. */
export function routeOf(method: string, url: string): string {
  const query = url.indexOf('?');
  const path = query < 0 ? url : url.slice(0, query);
  return `${method} ${path.length > ROUTE_LENGTH_MAX ? `sha256:${hash('sha256', path, 'hex')}` : path}`;
}

/**
 * Returns whether an earlier request with the same key may have succeeded, although this one is rejected with `error`:
 * its target may have been deleted in between. The stored response is then repeated.
 */
export function mayHaveSucceeded(error: ApiError): boolean {
  return OF_STATE.has(error.type) && !isAboutKey(error);
}

export const keyReused = (): ApiError =>
  conflict('This Idempotency-Key was used with another body. Take a new key for a new request.', {
    reason: 'key_reused',
  });

export const keyInFlight = (): ApiError =>
  conflict('The first request with this Idempotency-Key is still running. Send it again in a second.', {
    reason: 'in_flight',
  });

/** Returns whether the error is a conflict about the idempotency key, not about the resource. */
function isAboutKey(error: ApiError): boolean {
  return error.details['reason'] === 'key_reused' || error.details['reason'] === 'in_flight';
}
