import type { FastifyReply, FastifyRequest } from 'fastify';
import { type Id, showId } from '#kernel/ids.js';

/**
 * Sets the request id to the id of the created message or received event.
 *
 * The id in the answer and the log is therefore known for every delivery, without being stored with it.
 */
export function setRequestId(request: FastifyRequest, reply: FastifyReply, madeId: Id): void {
  request.id = showId('req', madeId);
  reply.header('x-request-id', request.id);
}
