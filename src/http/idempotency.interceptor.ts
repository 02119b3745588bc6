import { type CallHandler, type ExecutionContext, Injectable, type NestInterceptor } from '@nestjs/common';
import { INTERCEPTORS_METADATA } from '@nestjs/common/constants.js';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { lastValueFrom, type Observable, of } from 'rxjs';
import { JSON_TYPE } from './envelope.js';
import { IdempotentWork } from './idempotent-work.js';
import { handlerOf, type RouteHandler } from './routes.js';

/**
 * Runs the handler of a creating route once per idempotency key.
 *
 * If the handler's effect is stored in the ledger (the store of events and deliveries), the response for the key is
 * stored in the same group commit. For this, the handler passes the request's `idempotency`, which identifies the
 * reservation, to the ledger.
 */
@Injectable()
export class IdempotencyInterceptor implements NestInterceptor {
  constructor(private readonly once: IdempotentWork) {}

  async intercept(context: ExecutionContext, next: CallHandler): Promise<Observable<unknown>> {
    const http = context.switchToHttp();
    const request = http.getRequest<FastifyRequest>();
    const reply = http.getResponse<FastifyReply>();
    if (request.idempotency === null) return next.handle();
    const { body } = await this.once.run(request.idempotency, async (reservation) => {
      request.idempotency = reservation;
      if (request.bodyFault !== null) throw request.bodyFault;
      const result: unknown = await lastValueFrom(next.handle(), { defaultValue: undefined });
      // Stores and returns the exact text, so that a repeated response is identical.
      return { status: reply.statusCode, body: result === undefined ? '' : JSON.stringify(result) };
    });
    if (body === '') return of(undefined);
    reply.header('content-type', JSON_TYPE);
    return of(body);
  }
}

/**
 * Makes the idempotency interceptor the outermost one of its routes, so that it stores the response that the caller
 * gets. By default, Nest runs the interceptors of a controller before those of a method, and those of a method in the
 * order of the decorators. Call this before routes are created.
 */
export function interceptIdempotencyFirst(routes: readonly RouteHandler[]): void {
  for (const route of routes) {
    if (route.config.idempotency !== 'create') continue;
    const { controller } = route;
    const handler = handlerOf(route);
    const first = Reflect.hasMetadata(INTERCEPTORS_METADATA, controller) ? controller : handler;
    setInterceptors(handler, others(handler));
    setInterceptors(first, [IdempotencyInterceptor, ...others(first)]);
  }
}

function others(target: object): unknown[] {
  const interceptors = (Reflect.getMetadata(INTERCEPTORS_METADATA, target) ?? []) as unknown[];
  return interceptors.filter((each) => each !== IdempotencyInterceptor);
}

function setInterceptors(target: object, interceptors: unknown[]): void {
  Reflect.defineMetadata(INTERCEPTORS_METADATA, interceptors, target);
}
