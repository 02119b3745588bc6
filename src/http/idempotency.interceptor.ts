import { Injectable, Logger, type CallHandler, type ExecutionContext, type NestInterceptor } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { lastValueFrom, of, type Observable } from 'rxjs';
import { Database } from '#kernel/database.js';
import { answerOf, JSON_TYPE, toApiError } from './envelope.js';
import { isAboutKey, isKept } from './idempotency-key.js';
import { Answers, type Reservation } from './idempotency.store.js';

/**
 * Runs a creating handler once per key. The record and the effect are one transaction, so that no crash leaves one
 * without the other; a crash before the commit leaves a reservation whose lease ends.
 */
@Injectable()
export class IdempotencyInterceptor implements NestInterceptor {
  private readonly logger = new Logger('http');

  constructor(
    private readonly answers: Answers,
    private readonly database: Database,
  ) {}

  async intercept(context: ExecutionContext, next: CallHandler): Promise<Observable<unknown>> {
    const http = context.switchToHttp();
    const request = http.getRequest<FastifyRequest>();
    const { once } = request;
    if (once === null) return next.handle();
    const reservation = await this.answers.reserve(once);
    try {
      if (request.bodyFault !== null) throw request.bodyFault;
      return of(await this.run(reservation, next, http.getResponse<FastifyReply>()));
    } catch (error) {
      await this.settle(reservation, error, request.id);
      throw error;
    }
  }

  /** The client is sent the very text that is stored. */
  private run(reservation: Reservation, next: CallHandler, reply: FastifyReply): Promise<string | undefined> {
    return this.database.unit(async () => {
      const result: unknown = await lastValueFrom(next.handle(), { defaultValue: undefined });
      const body = result === undefined ? '' : JSON.stringify(result);
      await this.database.transaction(() => this.answers.complete(reservation, { status: reply.statusCode, body }));
      if (body === '') return undefined;
      reply.header('content-type', JSON_TYPE);
      return body;
    });
  }

  /** After the roll-back. When this fails too, the lease ends by itself; the caller is told of the first error. */
  private async settle(reservation: Reservation, error: unknown, requestId: string): Promise<void> {
    const apiError = toApiError(error);
    try {
      if (isKept(apiError) && !isAboutKey(apiError)) {
        const { status, body } = answerOf(apiError, requestId);
        await this.answers.complete(reservation, { status, body });
      } else {
        await this.answers.release(reservation);
      }
    } catch (failure) {
      this.logger.warn(`An idempotency key stays reserved: ${failure instanceof Error ? failure.message : String(failure)}`, {
        request_id: requestId,
      });
    }
  }
}
