import type { FastifyRequest } from 'fastify';

/** For code that makes the client wait. */
export interface Client {
  /** True if the connection is closed, so that an answer would be lost. */
  isGone(): boolean;
}

export function clientOf({ raw: { socket } }: FastifyRequest): Client {
  return { isGone: () => socket.destroyed };
}
