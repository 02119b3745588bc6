import { Injectable, type OnModuleInit } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { RECEIVED_METHODS } from '#engine/inbound/methods.js';
import type { ReceivedRequest, SynchronousAnswer } from '#engine/inbound/request.js';
import { withoutSteering } from '#engine/inbound/steering-headers.js';
import type { EdgeAdapter } from '#http/adapter.js';
import { AuthenticationHook } from '#http/authentication-hook.js';
import { EnvelopeFilter } from '#http/envelope.filter.js';
import { originCalled } from '#http/forwarded.js';
import { setRequestId } from '#http/request-id.js';
import { Config } from '#kernel/config/config.js';
import { ApiError, notFound } from '#kernel/errors.js';
import { CustomHosts } from '#modules/domains/contract.js';
import { INGEST_PREFIX } from '#modules/endpoints/contract.js';
import { type CustomHost, CustomHostRouter } from './custom-host-router.js';
import type { PipelineResult } from './pipeline-result.js';
import { RECEIVED_HEADERS } from './received-answer.js';
import { type Addressee, Reception } from './reception.js';

const BODY_BYTES_MAX = 1024 * 1024;

/**
 * The routes that providers call: any method, any content type, the body as bytes. They are Fastify's own, beside Nest's
 * controllers: nothing of what Nest puts around a handler is of use here, and every request of every provider comes by.
 */
@Injectable()
export class Ingest implements OnModuleInit {
  /** Whom requests are for that were found to be for somebody. */
  private readonly addressees = new WeakMap<FastifyRequest, Addressee>();
  private readonly called: CustomHostRouter;

  constructor(
    private readonly adapterHost: HttpAdapterHost,
    private readonly reception: Reception,
    private readonly gate: AuthenticationHook,
    private readonly filter: EnvelopeFilter,
    private readonly config: Config,
    hosts: CustomHosts,
  ) {
    this.called = new CustomHostRouter(hosts, config.trustProxy);
  }

  onModuleInit(): void {
    if (!this.config.isApi) return;
    (this.adapterHost.httpAdapter as unknown as EdgeAdapter).urlByHost = (request) => this.called.urlOf(request);
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
      // Before the body is read: what is too large for an endpoint that does not take its method is answered 405.
      scope.addHook('onRequest', async (request, reply) => {
        try {
          const found = await this.find(request);
          if (found === null) return;
          this.reception.admit(found, request.method);
          this.addressees.set(request, found);
        } catch (error) {
          // Storage may be away: that is told when the body has been read.
          if (error instanceof ApiError && error.type === 'method_not_allowed')
            await this.filter.answer(error, request, reply);
        }
      });
      scope.addContentTypeParser('*', { parseAs: 'buffer', bodyLimit: BODY_BYTES_MAX }, (_request, body, parsed) =>
        parsed(null, body),
      );
      scope.route({
        method: everyMethod(scope),
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
      await this.filter.answer(error, request, reply);
    }
    return reply;
  }

  private async find(request: FastifyRequest): Promise<Addressee | null> {
    const [path] = partsOf(request);
    // The router decodes before it matches: what only decodes to our prefix is none of our URLs.
    if (!path.startsWith(INGEST_PREFIX)) return null;
    return this.reception.find(path.slice(INGEST_PREFIX.length), this.called.findHost(request.raw)?.domainId ?? null);
  }

  private async receive(request: FastifyRequest, reply: FastifyReply): Promise<void> {
    const found = this.addressees.get(request) ?? (await this.find(request));
    if (found === null) {
      await this.gate.authenticateUnrouted(request, reply);
      throw notFound('endpoint');
    }
    const { traceparent } = request.headers;
    const received = this.receivedRequest(request, partsOf(request)[1], this.called.findHost(request.raw));
    await this.respond(
      await this.reception.receive(found, received, typeof traceparent === 'string' ? traceparent : undefined),
      request,
      reply,
    );
  }

  private receivedRequest(
    request: FastifyRequest,
    query: string,
    custom: CustomHost | null,
  ): Omit<ReceivedRequest, 'path'> {
    const { raw, body, ip, method } = request;
    const headers: [string, string][] = [];
    for (let i = 0; i + 1 < raw.rawHeaders.length; i += 2) {
      headers.push([(raw.rawHeaders[i] as string).toLowerCase(), raw.rawHeaders[i + 1] as string]);
    }
    const bytes = Buffer.isBuffer(body) ? body : Buffer.alloc(0);
    return {
      method,
      query,
      headers,
      body: bytes,
      url:
        custom === null
          ? `${this.originOf(request)}${raw.url ?? ''}`
          : `${this.schemeOf(request)}://${custom.host}${custom.url}`,
      ip,
    };
  }

  /** BASE_URL where it is set. Else a trusted proxy knows what the provider called, which some providers sign. */
  private originOf(request: FastifyRequest): string {
    const { configuredBaseUrl, baseUrl, trustProxy } = this.config;
    return configuredBaseUrl ?? (trustProxy.length > 0 ? originCalled(request) : null) ?? baseUrl;
  }

  /** A proxy in front ends TLS: what it says, or what BASE_URL says of it. */
  private schemeOf(request: FastifyRequest): string {
    const { configuredBaseUrl, trustProxy } = this.config;
    if (trustProxy.length > 0) return request.protocol;
    return configuredBaseUrl === null ? 'https' : new URL(configuredBaseUrl).protocol.slice(0, -1);
  }

  private async respond(
    { answer, eventId }: PipelineResult,
    request: FastifyRequest,
    reply: FastifyReply,
  ): Promise<void> {
    if (eventId !== null) setRequestId(request, reply, eventId);
    if (answer === 'refused')
      throw new ApiError('unauthenticated', 'The signature does not hold. The request is kept, and goes nowhere.');
    if (answer === 'unavailable') {
      reply.code(502).header('content-type', 'application/json; charset=utf-8').header('retry-after', 1);
      const message = 'What answers for this endpoint is not available. Nothing was accepted; send it again.';
      await reply.send(JSON.stringify({ error: { type: 'internal', message, request_id: request.id, details: {} } }));
      return;
    }
    reply
      .code(answer.status)
      .headers(answer.headers === RECEIVED_HEADERS ? answer.headers : withoutSteering(answer.headers));
    // What tenants answer is served from the origin of Swagger UI, which keeps keys: nothing of it may run there.
    if (answer.headers !== RECEIVED_HEADERS)
      reply.header('x-content-type-options', 'nosniff').header('content-security-policy', 'sandbox');
    await reply.send(bodyOf(answer));
  }
}

function everyMethod(scope: FastifyInstance): string[] {
  for (const method of RECEIVED_METHODS) {
    if (scope.supportedMethods.includes(method)) continue;
    try {
      scope.addHttpMethod(method, { hasBody: true });
    } catch {
      // This version of Node does not know it, and its parser refuses it.
    }
  }
  return scope.supportedMethods;
}

/** Path and query as they were sent. */
function partsOf({ raw: { url = '' } }: FastifyRequest): [path: string, query: string] {
  const mark = url.indexOf('?');
  return mark === -1 ? [url, ''] : [url.slice(0, mark), url.slice(mark + 1)];
}

/**
 * With a text Node would write the headers in UTF-8, and Fastify its own charset: as bytes, what was set goes out as it
 * is. Our own answer needs neither, and a text leaves in one write with its headers.
 */
function bodyOf({ headers, body }: SynchronousAnswer): string | Buffer | undefined {
  if (headers === RECEIVED_HEADERS) return body;
  return body === '' ? undefined : Buffer.from(body);
}
