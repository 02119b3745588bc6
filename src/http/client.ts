import type { FastifyRequest } from 'fastify';

/** State of a client's connection, for code that makes the client wait. */
export interface Client {
  /** Returns whether the connection is closed. A response would then be lost. */
  isGone(): boolean;
}

export function clientOf({ raw: { socket } }: FastifyRequest): Client {
  return { isGone: () => socket.destroyed };
}
