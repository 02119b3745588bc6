import type { FastifyRequest } from 'fastify';

/** The one who sent a request, as far as somebody has to know who makes him wait. */
export interface Client {
  /** The connection is over: nobody would hear an answer. */
  isGone(): boolean;
}

export function clientOf({ raw: { socket } }: FastifyRequest): Client {
  return { isGone: () => socket.destroyed };
}
