import { applyDecorators, UseInterceptors } from '@nestjs/common';
import { IdempotencyInterceptor } from './idempotency.interceptor.js';
import type { IdempotencyMode } from './request.js';
import { withRouteConfig } from './route-config.js';

/**
 * The POST route accepts an `Idempotency-Key`.
 *
 * - `create` (the default): with a key, the handler runs in one unit of work, and its answer is committed with its
 *   effect. Data for the ledger carries the request's `idempotency` and an answer, for the group commit.
 * - `accept`: the handler passes the request's `idempotency` to the statement that writes the effect, which throws
 *   `AlreadyAnswered`. There is no interceptor, because RxJS would cost the hot route more than the rest of the edge.
 */
export function Idempotent(mode: IdempotencyMode = 'create'): MethodDecorator {
  const remembered = withRouteConfig({ idempotency: mode });
  return mode === 'accept' ? remembered : applyDecorators(remembered, UseInterceptors(IdempotencyInterceptor));
}
