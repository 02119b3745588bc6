import type { FastifyReply, FastifyRequest } from 'fastify';
import { type Id, showId } from '#kernel/ids.js';

/** Uses the id of the created message or event as request id. Every delivery then logs this request id. */
export function setRequestId(request: FastifyRequest, reply: FastifyReply, madeId: Id): void {
  request.id = showId('req', madeId);
  reply.header('x-request-id', request.id);
}
