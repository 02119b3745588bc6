import { timingSafeEqual } from 'node:crypto';
import { Controller, Get, Req, Res } from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Config } from '#kernel/config/config.js';
import { ApiError, noSuch } from '#kernel/errors.js';
import { Metrics } from '#kernel/observability/metrics.js';
import { Public } from './access.js';
import { parseBearer } from './authentication-hook.js';

/** Headers that only proxies add. Behind a proxy, a loopback peer address does not mean that the client is local. */
const PROXY_HEADERS = ['forwarded', 'via', 'x-forwarded-for', 'x-real-ip'];

const LOOPBACK = /^(?:127\.|::1$|::ffff:127\.)/;

/**
 * Serves `GET /metrics` on the API's port. If METRICS_TOKEN is set, the request must carry this token. Otherwise, only
 * requests from the same machine are allowed.
 *
 * If METRICS_PORT is set, the metrics have a separate port (`metrics-listener.ts`), and this route needs METRICS_TOKEN.
 */
@ApiExcludeController()
@Controller('metrics')
export class MetricsController {
  constructor(
    private readonly metrics: Metrics,
    private readonly config: Config,
  ) {}

  @Get()
  @Public({ uncounted: true })
  async scrape(@Req() request: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
    this.refuseStrangers(request);
    await reply.type(this.metrics.registry.contentType).send(await this.metrics.page());
  }

  private refuseStrangers(request: FastifyRequest): void {
    const { metricsToken, metricsPort } = this.config;
    if (metricsToken !== null) {
      if (!isToken(parseBearer(request.headers.authorization), metricsToken)) {
        throw new ApiError('unauthenticated', 'Send METRICS_TOKEN as `Authorization: Bearer …`.');
      }
      return;
    }
    const isLocal = LOOPBACK.test(request.ip) && !PROXY_HEADERS.some((name) => name in request.headers);
    if (metricsPort !== null || !isLocal) throw noSuch('path');
  }
}

/** Returns whether a token is the expected one. Compares in constant time for equal lengths. */
export function isToken(given: string | null, expected: string): boolean {
  const [a, b] = [Buffer.from(given ?? ''), Buffer.from(expected)];
  return a.length === b.length && timingSafeEqual(a, b);
}
