import { type CallHandler, type ExecutionContext, Injectable, type NestInterceptor } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { lastValueFrom, type Observable, of } from 'rxjs';
import { Database } from '#kernel/database/database.js';
import { JSON_TYPE } from './envelope.js';
import { IdempotencyStore, LEASE_MS, type Reservation } from './idempotency.store.js';
import { IdempotencyReleaseRetry } from './idempotency-release-retry.js';

/** Twice may fail. */
const RENEW_MS = LEASE_MS / 3;

/**
 * Runs a creating handler once per key. The record and the effect are one transaction, so that no crash leaves one
 * without the other; a crash before the commit leaves a reservation whose lease ends. What the ledger accepts is
 * committed by a group: a handler hands it the request's `idempotency`, which names the reservation that it settles.
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
    // A renewal that fails is like none: whoever takes over is then the one whose effect is committed.
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

  /** The client is sent the very text that is stored. */
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

  /** After the roll-back. The caller is told of the first error, and doesn't wait for storage that is away to take the key back. */
  private async release(reservation: Reservation): Promise<void> {
    try {
      await this.idempotency.release(reservation);
    } catch {
      this.givenBack.enqueue(reservation);
    }
  }
}
