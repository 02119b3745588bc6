import { Injectable, type OnModuleInit } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { ReceivedRequest, SynchronousAnswer } from '#engine/inbound/request.js';
import { EnvelopeFilter } from '#http/envelope.filter.js';
import { RequestGate } from '#http/request-gate.js';
import { Config } from '#kernel/config.js';
import { ApiError, notFound } from '#kernel/errors.js';
import { INGEST_PREFIX } from '#modules/endpoints/ingest-prefix.js';
import { IngestMetrics } from './ingest.metrics.js';
import { LiveEndpoints } from './live-endpoints.js';
import { Pipeline, RECEIVED_HEADERS, type Passed } from './pipeline.js';
import { VerificationWatch } from './verification-watch.js';

const BODY_BYTES_MAX = 1024 * 1024;

/** What of the edge the routes of providers use. */
@Injectable()
export class IngestEdge {
  constructor(
    readonly gate: RequestGate,
    readonly filter: EnvelopeFilter,
    readonly metrics: IngestMetrics,
    readonly verification: VerificationWatch,
  ) {}
}

/**
 * The routes that providers call: any method, any content type, the body as bytes. They are Fastify's own, beside Nest's
 * controllers: nothing of what Nest puts around a handler is of use here, and every request of every provider comes by.
 */
@Injectable()
export class Ingest implements OnModuleInit {
  constructor(
    private readonly adapterHost: HttpAdapterHost,
    private readonly endpoints: LiveEndpoints,
    private readonly pipeline: Pipeline,
    private readonly edge: IngestEdge,
    private readonly config: Config,
  ) {}

  onModuleInit(): void {
    if (this.config.role === 'worker') return;
    const fastify = this.adapterHost.httpAdapter.getInstance<FastifyInstance>();
    // In a plugin of its own: the parser below is not seen from outside.
    void fastify.register((scope, _options, done) => {
      scope.removeAllContentTypeParsers();
      // Fastify refuses content types that it can't read, whatever the parsers. Providers send them; rawHeaders keep what came.
      scope.addHook('onRequest', (request, _reply, next) => {
        const { headers } = request.raw;
        if (headers['content-type'] !== undefined) headers['content-type'] = 'application/octet-stream';
        next();
      });
      scope.addContentTypeParser('*', { parseAs: 'buffer', bodyLimit: BODY_BYTES_MAX }, (_request, body, parsed) => parsed(null, body));
      scope.route({
        method: ['DELETE', 'GET', 'HEAD', 'OPTIONS', 'PATCH', 'POST', 'PUT'],
        url: `${INGEST_PREFIX}*`,
        // Providers are no callers of the API: what they send is never refused for their number. Misses are counted.
        config: { access: 'public', uncounted: true },
        exposeHeadRoute: false,
        bodyLimit: BODY_BYTES_MAX,
        handler: (request, reply) => this.handle(request, reply),
      });
      done();
    });
  }

  private async handle(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    try {
      await this.receive(request, reply);
    } catch (error) {
      await this.edge.filter.answer(error, request, reply);
    }
    return reply;
  }

  private async receive(request: FastifyRequest, reply: FastifyReply): Promise<void> {
    const rawUrl = request.raw.url ?? '';
    const mark = rawUrl.indexOf('?');
    const path = (mark === -1 ? rawUrl : rawUrl.slice(0, mark)).slice(INGEST_PREFIX.length);
    // The router decodes before it matches: what only decodes to our prefix is none of our URLs.
    const found = rawUrl.startsWith(INGEST_PREFIX) ? await this.endpoints.at(path) : null;
    if (found === null) {
      await this.edge.gate.admitUnrouted(request, reply);
      throw notFound('endpoint');
    }
    const received = this.receivedRequest(request, found.rest, mark === -1 ? '' : rawUrl.slice(mark + 1));
    const traceparent = request.headers.traceparent;
    const passed = await this.pipeline.pass(found.endpoint, received, {
      replayOf: null,
      traceparent: typeof traceparent === 'string' ? traceparent : undefined,
    });
    this.edge.metrics.received(passed);
    if (passed.eventId !== null) this.edge.verification.count(found.endpoint, passed.eventId, passed.answer === 'refused');
    await this.respond(passed, request, reply);
  }

  private receivedRequest({ raw, body, ip, method }: FastifyRequest, path: string, query: string): ReceivedRequest {
    const headers: [string, string][] = [];
    for (let i = 0; i + 1 < raw.rawHeaders.length; i += 2) {
      headers.push([(raw.rawHeaders[i] as string).toLowerCase(), raw.rawHeaders[i + 1] as string]);
    }
    const bytes = Buffer.isBuffer(body) ? body : Buffer.alloc(0);
    return { method, path, query, headers, body: bytes, url: `${this.config.baseUrl}${raw.url ?? ''}`, ip };
  }

  private async respond({ answer }: Passed, request: FastifyRequest, reply: FastifyReply): Promise<void> {
    if (answer === 'refused') throw new ApiError('unauthenticated', 'The signature does not hold. The request is kept, and goes nowhere.');
    if (answer === 'unavailable') {
      reply.code(502).header('content-type', 'application/json; charset=utf-8').header('retry-after', 1);
      const message = 'What answers for this endpoint is not available. Nothing was accepted; send it again.';
      await reply.send(JSON.stringify({ error: { type: 'internal', message, request_id: request.id, details: {} } }));
      return;
    }
    reply.code(answer.status).headers(answer.headers);
    // What tenants answer is served from the origin of Swagger UI, which keeps keys: nothing of it may run there.
    if (answer.headers !== RECEIVED_HEADERS) reply.header('x-content-type-options', 'nosniff').header('content-security-policy', 'sandbox');
    await reply.send(bodyOf(answer));
  }
}

/**
 * With a text Node would write the headers in UTF-8, and Fastify its own charset: as bytes, what was set goes out as it
 * is. Our own answer needs neither, and a text leaves in one write with its headers.
 */
function bodyOf({ headers, body }: SynchronousAnswer): string | Buffer | undefined {
  if (headers === RECEIVED_HEADERS) return body;
  return body === '' ? undefined : Buffer.from(body);
}
