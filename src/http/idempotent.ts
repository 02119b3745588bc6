import { applyDecorators, createParamDecorator, UseInterceptors, type ExecutionContext } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import type { Once } from '#kernel/idempotency.js';
import { IdempotencyInterceptor } from './idempotency.interceptor.js';
import type { OnceMode } from './request.js';
import { withRouteConfig } from './route-config.js';

/**
 * The POST route takes an `Idempotency-Key`.
 *
 * `create` (the default): with a key the handler runs in one unit of work, and its answer is committed with its effect.
 * `accept`: the handler passes `@CurrentOnce()` to the statement that writes the effect, which throws `AlreadyAnswered`;
 * no interceptor stands around it, as RxJS would cost the hot route more than everything else at the edge.
 */
export function Idempotent(mode: OnceMode = 'create'): MethodDecorator {
  const remembered = withRouteConfig({ once: mode });
  return mode === 'accept' ? remembered : applyDecorators(remembered, UseInterceptors(IdempotencyInterceptor));
}

/** The idempotency key of the request, or null when it has none. */
export const CurrentOnce = createParamDecorator(
  (_: unknown, context: ExecutionContext): Once | null => context.switchToHttp().getRequest<FastifyRequest>().once,
);
