import type { FastifyReply, FastifyRequest } from 'fastify';
import { type Id, showId } from '#kernel/ids.js';

/**
 * Names a request after what it made: the message, or the event that was received. So its id, which the answer and the
 * log tell, is that of every delivery without being stored with any.
 */
export function setRequestId(request: FastifyRequest, reply: FastifyReply, madeId: Id): void {
  request.id = showId('req', madeId);
  reply.header('x-request-id', request.id);
}
