import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { FastifyReply } from 'fastify';

/** Signal that aborts when the client disconnects. It may also abort after the response, without any effect. */
export const ClientGone = createParamDecorator((_: unknown, context: ExecutionContext): AbortSignal => {
  const gone = new AbortController();
  context
    .switchToHttp()
    .getResponse<FastifyReply>()
    .raw.once('close', () => gone.abort());
  return gone.signal;
});
