import { applyDecorators, UseInterceptors } from '@nestjs/common';
import { IdempotencyInterceptor } from './idempotency.interceptor.js';
import type { IdempotencyMode } from './request.js';
import { withRouteConfig } from './route-config.js';

/**
 * Makes a POST route accept an `Idempotency-Key`.
 *
 * - `create` (the default): an interceptor runs the handler in one transaction, and stores the response in the same
 *   transaction. If the ledger (the store of events and deliveries) stores the effect, the handler passes `idempotency`
 *   and the response to the ledger, which stores both in the same group commit.
 * - `accept`, for frequently called routes: there is no interceptor, because RxJS would cost more than the other HTTP
 *   code. The handler passes the request's `idempotency` to the statement that writes the effect. The statement throws
 *   `AlreadyAnswered` if the key has a response.
 *
 * With `takesAnyKey`, a key is any printable text of up to 256 characters, as in other email services.
 */
export function Idempotent(mode: IdempotencyMode = 'create', options: { takesAnyKey?: boolean } = {}): MethodDecorator {
  const remembered = withRouteConfig({ idempotency: mode, ...options });
  return mode === 'accept' ? remembered : applyDecorators(remembered, UseInterceptors(IdempotencyInterceptor));
}
