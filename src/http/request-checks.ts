import type { FastifyReply, FastifyRequest } from 'fastify';
import { ApiError } from '#kernel/errors.js';
import { onceOf } from './idempotency-key.js';

/**
 * Fastify hook between the parser and the handler: the idempotency key (400), the query (400), the body (422).
 *
 * A hook and not Nest's pipes: a global pipe runs on every parameter of every handler, which costs 10 µs a request.
 */
export function checkRequest(request: FastifyRequest, _reply: FastifyReply, done: (error?: Error) => void): void {
  const { once, checkBody, checkQuery } = request.edge;
  try {
    if (once !== undefined) request.once = onceOf(request);
    if (checkQuery !== undefined) request.query = checkQuery(request.query);
    if (checkBody !== undefined) request.body = checkBody(request.body);
  } catch (error) {
    const waits = once === 'create' && request.once !== null && error instanceof ApiError;
    if (!waits) return done(error as Error);
    // A bad body is an answer like others to its key: the interceptor gives it, after looking for an earlier one.
    request.bodyFault = error;
  }
  done();
}
