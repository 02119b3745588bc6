import type { FastifyReply, FastifyRequest } from 'fastify';
import { ApiError } from '#kernel/errors.js';
import { idempotencyOf } from './idempotency-key.js';

/**
 * Checks the idempotency key (400), the query (400) and the body (422) before the handler. This is a Fastify hook,
 * because a global Nest pipe would run on every parameter of every handler, which costs 10 µs per request.
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
    // A response about the idempotency key takes precedence. The interceptor therefore looks up the key first and
    // throws this error afterwards.
    request.bodyFault = error;
  }
  done();
}
