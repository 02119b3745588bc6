import type { FastifyReply, FastifyRequest } from 'fastify';
import { ApiError, invalid } from '#kernel/errors.js';
import { isSuspect } from './body-parser.js';
import { idempotencyOf } from './idempotency-key.js';
import { prototypeFaults } from './prototype-names.js';

/**
 * Checks the idempotency key (400), the query (400) and the body (422) before the handler. A Fastify hook, because a
 * global Nest pipe would run for every parameter of every handler, which costs 10 µs per request.
 */
export function checkRequest(request: FastifyRequest, _reply: FastifyReply, done: (error?: Error) => void): void {
  const { idempotency, checkBody, checkQuery, runDecorators } = request.edge;
  try {
    if (idempotency !== undefined) request.idempotency = idempotencyOf(request);
    if (checkQuery !== undefined) request.query = checkQuery(request.query);
    if (checkBody !== undefined) request.body = checkBody(request.body, request.bodyText);
    else refusePrototypes(request.body);
  } catch (error) {
    return done(unlessPostponed(error, request));
  }
  if (runDecorators === undefined) return done();
  runDecorators(request.body, request.query).then(
    () => done(),
    (error: unknown) => done(unlessPostponed(error, request)),
  );
}

/** Rejects a field named `__proto__` in a body without a schema. */
function refusePrototypes(body: unknown): void {
  const faults = typeof body === 'object' && body !== null && isSuspect(body) ? prototypeFaults(body) : [];
  if (faults.length > 0) throw invalid(faults);
}

/**
 * Returns the error to throw now, or undefined if the idempotency interceptor throws it later. The interceptor looks up
 * the key first, because a stored response or a conflict about the key takes precedence over a rejection.
 */
function unlessPostponed(error: unknown, request: FastifyRequest): Error | undefined {
  if (!(error instanceof ApiError)) return error instanceof Error ? error : new Error(String(error));
  if (request.edge.idempotency !== 'create' || request.idempotency === null) return error;
  request.bodyFault = error;
  return undefined;
}
