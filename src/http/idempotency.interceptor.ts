import { type CallHandler, type ExecutionContext, Injectable, type NestInterceptor } from '@nestjs/common';
import { INTERCEPTORS_METADATA } from '@nestjs/common/constants.js';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { lastValueFrom, type Observable, of } from 'rxjs';
import { Database } from '#kernel/database/database.js';
import { JSON_TYPE } from './envelope.js';
import { IdempotencyStore, LEASE_MS, type Reservation } from './idempotency.store.js';
import { IdempotencyReleaseRetry } from './idempotency-release-retry.js';
import { handlerOf, type RouteHandler } from './routes.js';

/** Renewal interval: a third of the lease, so that two renewals in a row may fail. */
const RENEW_MS = LEASE_MS / 3;

/**
 * Runs a creating handler once per key. Record and effect are one transaction. A crash before the commit leaves only a
 * reservation, whose lease expires. Effects that the ledger stores join its group commit: the handler passes on the
 * request's `idempotency`, which names the reservation to complete.
 */
@Injectable()
export class IdempotencyInterceptor implements NestInterceptor {
  constructor(
    private readonly idempotency: IdempotencyStore,
    private readonly database: Database,
    private readonly givenBack: IdempotencyReleaseRetry,
  ) {}

  async intercept(context: ExecutionContext, next: CallHandler): Promise<Observable<unknown>> {
    const http = context.switchToHttp();
    const request = http.getRequest<FastifyRequest>();
    const { idempotency } = request;
    if (idempotency === null) return next.handle();
    const reservation = await this.idempotency.reserve(idempotency);
    request.idempotency = reservation;
    // A failed renewal is ignored. If another request takes over the key, only the effect of that request commits.
    const renewal = setInterval(() => void this.idempotency.renew(reservation).catch(() => undefined), RENEW_MS);
    try {
      if (request.bodyFault !== null) throw request.bodyFault;
      return of(await this.run(reservation, next, http.getResponse<FastifyReply>()));
    } catch (error) {
      await this.release(reservation);
      throw error;
    } finally {
      clearInterval(renewal);
    }
  }

  /** Runs the handler and returns the exact text that is stored. */
  private run(reservation: Reservation, next: CallHandler, reply: FastifyReply): Promise<string | undefined> {
    return this.database.unitOfWork(async () => {
      const result: unknown = await lastValueFrom(next.handle(), { defaultValue: undefined });
      const body = result === undefined ? '' : JSON.stringify(result);
      await this.database.transaction(() => this.idempotency.complete(reservation, { status: reply.statusCode, body }));
      if (body === '') return undefined;
      reply.header('content-type', JSON_TYPE);
      return body;
    });
  }

  /** Releases the key after a rollback. The caller gets the first error without waiting for an unavailable storage. */
  private async release(reservation: Reservation): Promise<void> {
    try {
      await this.idempotency.release(reservation);
    } catch {
      this.givenBack.enqueue(reservation);
    }
  }
}

/**
 * Places the interceptor before all others of its routes, so that it stores the response that the caller gets. Nest runs
 * the interceptors of a controller before those of a method, and those of a method in the order of the decorators.
 *
 * Call this before routes are created.
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
