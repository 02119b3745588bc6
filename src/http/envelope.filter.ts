import { type ArgumentsHost, Catch, type ExceptionFilter, Logger } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Config } from '#kernel/config/config.js';
import { ApiError } from '#kernel/errors.js';
import { AlreadyAnswered, type StoredAnswer } from '#kernel/idempotency.js';
import { answerOf, type ErrorAnswer, JSON_TYPE, toApiError } from './envelope.js';
import { IdempotencyStore } from './idempotency.store.js';
import { mayHaveSucceeded } from './idempotency-key.js';
import { isNotShipped } from './not-shipped.js';
import { oauthAnswerOf } from './oauth-answers.js';
import { faultPage } from './pages/fault-page.js';
import { sendPage } from './pages/page.js';
import { hasResendErrors, resendFields } from './resend-errors.js';
import { readBodyOn } from './unread-body.js';

/** Responds to unknown paths, and to all errors of handlers, pipes, interceptors, hooks, parsers and the router. */
@Catch()
export class EnvelopeFilter implements ExceptionFilter {
  private readonly logger = new Logger('http');

  /** Returns additional headers, such as CORS headers. Set by the module whose routes need them. */
  headersOf: (request: FastifyRequest, error: ApiError) => Readonly<Record<string, string>> = () => ({});

  constructor(
    private readonly idempotency: IdempotencyStore,
    private readonly config: Config,
  ) {}

  async catch(error: unknown, host: ArgumentsHost): Promise<void> {
    const http = host.switchToHttp();
    await this.answer(error, http.getRequest<FastifyRequest>(), http.getResponse<FastifyReply>());
  }

  /** Sends the error. Never throws. Does nothing if a response has begun. */
  async answer(error: unknown, request: FastifyRequest, reply: FastifyReply): Promise<void> {
    try {
      if (error instanceof AlreadyAnswered) replay(reply, error.answer);
      else await this.refuse(error, request, reply);
    } catch (failure) {
      this.send(toApiError(failure), failure, request, reply);
    }
  }

  private async refuse(error: unknown, request: FastifyRequest, reply: FastifyReply): Promise<void> {
    const apiError = this.reword(toApiError(error, request.routeOptions.bodyLimit), request);
    // Repeats the stored response if an earlier request with this idempotency key succeeded. Routes with another mode
    // than `accept` have an interceptor, which has already done this.
    const { idempotency } = request;
    if (idempotency && request.edge.idempotency === 'accept' && mayHaveSucceeded(apiError)) {
      const earlier = await this.idempotency.find(idempotency);
      if (earlier) return replay(reply, earlier);
    }
    this.send(apiError, error, request, reply);
  }

  private send(apiError: ApiError, error: unknown, request: FastifyRequest, reply: FastifyReply): void {
    const more = hasResendErrors(request) ? resendFields(apiError, request) : {};
    const answer = answerOf(apiError, request.id, more);
    if (answer.status >= 500 && answer.status !== 501) this.log(answer.status, error, request);
    if (reply.sent || reply.raw.headersSent) return;
    if (request.edge?.oauth === true) return sendOAuth(apiError, answer, reply);
    if (request.edge?.page === true) return this.sendPage(apiError, answer, request, reply);
    if (answer.status === 413 || answer.status === 405) readBodyOn(request, reply);
    reply
      .code(answer.status)
      .headers({ ...answer.headers, ...this.headersOf(request, apiError) })
      .header('content-type', JSON_TYPE)
      .send(answer.body);
  }

  private sendPage(
    apiError: ApiError,
    { status, headers }: ErrorAnswer,
    request: FastifyRequest,
    reply: FastifyReply,
  ): void {
    reply.headers(headers);
    sendPage(reply, faultPage(apiError, request.id), { status, basePath: this.config.basePath });
  }

  private reword(error: ApiError, request: FastifyRequest): ApiError {
    if (error.type !== 'not_found' || !request.is404) return error;
    const path = pathOf(request);
    return isNotShipped(path)
      ? new ApiError('not_implemented', 'This path will be available in a later release.')
      : new ApiError('not_found', 'There is nothing at this path, or not with this method.');
  }

  /** Logs the error. An `unavailable` error of a handler is logged without a stack. */
  private log(status: number, error: unknown, request: FastifyRequest): void {
    const line = `${request.method} ${pathOf(request)} ${status}: ${error instanceof Error ? error.message : String(error)}`;
    // Logs the readiness check at `debug`, because load balancers call it every second and its response has the reason.
    if (pathOf(request) === '/health/ready') this.logger.debug(line, { request_id: request.id });
    else if (error instanceof ApiError) this.logger.warn(line, { request_id: request.id });
    else this.logger.error(line, { request_id: request.id, err: error });
  }
}

/** Returns the path without the query, which may contain secrets and must not be logged. */
function pathOf(request: FastifyRequest): string {
  return request.url.split('?', 1)[0] ?? '';
}

function replay(reply: FastifyReply, { status, body }: StoredAnswer): void {
  reply.code(status).header('idempotent-replayed', 'true');
  if (body !== '') reply.header('content-type', JSON_TYPE);
  reply.send(body === '' ? undefined : body);
}

function sendOAuth(apiError: ApiError, { headers }: ErrorAnswer, reply: FastifyReply): void {
  const answer = oauthAnswerOf(apiError);
  reply
    .code(answer.status)
    .headers({ ...headers, ...answer.headers })
    .header('content-type', JSON_TYPE)
    .send(answer.body);
}
