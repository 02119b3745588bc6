import type { FastifyReply, FastifyRequest } from 'fastify';
import { type Id, showId } from '#kernel/ids.js';

/**
 * Sets the request id to the id of the created message or event, so that every log line of its deliveries has this id.
 */
export function setRequestId(request: FastifyRequest, reply: FastifyReply, madeId: Id): void {
  request.id = showId('req', madeId);
  reply.header('x-request-id', request.id);
}
