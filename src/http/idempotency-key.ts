import { hash } from 'node:crypto';
import type { FastifyRequest } from 'fastify';
import { type ApiError, badRequest, conflict } from '#kernel/errors.js';
import type { IdempotentRequest } from '#kernel/idempotency.js';

const KEY = /^(?:"([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})"|([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}))$/;

/** Maximum length of a stored path. A longer path would not fit into a PostgreSQL index row, so its hash is stored. */
const ROUTE_LENGTH_MAX = 512;

const NO_BODY = Buffer.alloc(0);

/** Errors that depend on stored state. An earlier request with the same key may have changed that state. */
const OF_STATE: ReadonlySet<ApiError['type']> = new Set<ApiError['type']>([
  'not_found',
  'conflict',
  'validation_failed',
]);

/** Parses a UUID, with or without quotes. Throws 400 for anything else. */
export function parseKey(header: string | string[]): string {
  const match = typeof header === 'string' ? KEY.exec(header.trim().toLowerCase()) : null;
  const key = match?.[1] ?? match?.[2];
  if (key === undefined) throw badRequest('The Idempotency-Key header must be one uuid.');
  return key;
}

/** Returns the key with its scope, or null if the request sent none. Throws 400 for a malformed key. */
export function idempotencyOf(request: FastifyRequest): IdempotentRequest | null {
  const header = request.headers['idempotency-key'];
  if (header === undefined || request.caller === null) return null;
  return {
    environmentId: request.caller.tenant.environmentId,
    route: routeOf(request.method, request.url),
    key: parseKey(header),
    fingerprint: hash('sha256', request.rawBody ?? NO_BODY, 'buffer'),
  };
}

/** Returns the path as sent, without the query. */
export function routeOf(method: string, url: string): string {
  const query = url.indexOf('?');
  const path = query < 0 ? url : url.slice(0, query);
  return `${method} ${path.length > ROUTE_LENGTH_MAX ? `sha256:${hash('sha256', path, 'hex')}` : path}`;
}

/**
 * Returns whether the key of a rejected request must be looked up. The first request with this key may have succeeded
 * while its target still existed. In that case, its response is repeated. Rejections are never stored (contract,
 * section 3).
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

/** Returns whether the error is a conflict about the key, which says nothing about the request itself. */
function isAboutKey(error: ApiError): boolean {
  return error.details['reason'] === 'key_reused' || error.details['reason'] === 'in_flight';
}
