import type { FastifyReply, FastifyRequest } from 'fastify';
import { ApiError } from '#kernel/errors.js';
import { idempotencyOf } from './idempotency-key.js';

/**
 * Fastify hook between the parser and the handler: the idempotency key (400), the query (400), the body (422).
 *
 * A hook and not Nest's pipes: a global pipe runs on every parameter of every handler, which costs 10 µs a request.
 */
export function checkRequest(request: FastifyRequest, _reply: FastifyReply, done: (error?: Error) => void): void {
  const { idempotency, checkBody, checkQuery } = request.edge;
  try {
    if (idempotency !== undefined) request.idempotency = idempotencyOf(request);
    if (checkQuery !== undefined) request.query = checkQuery(request.query);
    if (checkBody !== undefined) request.body = checkBody(request.body, request.bodyText);
  } catch (error) {
    const waits = idempotency === 'create' && request.idempotency !== null && error instanceof ApiError;
    if (!waits) return done(error as Error);
    // Whether the key belongs to another body is said first: the interceptor looks, and refuses this one afterwards.
    request.bodyFault = error;
  }
  done();
}
