import { Injectable, type OnModuleInit } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { RECEIVED_METHODS } from '#engine/inbound/methods.js';
import type { ReceivedRequest, SynchronousAnswer } from '#engine/inbound/request.js';
import { withoutSteering } from '#engine/inbound/steering-headers.js';
import { EdgeAdapter } from '#http/adapter.js';
import { AuthenticationHook } from '#http/authentication-hook.js';
import { EnvelopeFilter } from '#http/envelope.filter.js';
import { originCalled } from '#http/forwarded.js';
import { setRequestId } from '#http/request-id.js';
import { readBodyOn } from '#http/unread-body.js';
import { Config } from '#kernel/config/config.js';
import { ApiError, noSuch } from '#kernel/errors.js';
import { CustomHosts } from '#modules/domains/contract.js';
import { BODY_BYTES_DEFAULT, INGEST_PREFIX } from '#modules/endpoints/contract.js';
import { type CustomHost, CustomHostRouter } from './custom-host-router.js';
import type { PipelineResult } from './pipeline-result.js';
import { RECEIVED_HEADERS } from './received-answer.js';
import { type Addressee, Reception } from './reception.js';
import { type BodyLimit, RejectedBody, RequestBodies } from './request-bodies.js';

/** Limit for a body that is read without a known endpoint, because storage was unavailable. */
const LIMIT_OF_UNKNOWN: BodyLimit = { organizationId: '', maxBodyBytes: BODY_BYTES_DEFAULT };
/**
 * Rejection of a body above `LIMIT_OF_UNKNOWN`. The reason is `busy` and not `too_large`, because the endpoint, which
 * could not be loaded, may accept a body of this size.
 */
const BUSY = new RejectedBody('busy', 0);

/**
 * The routes that providers call. They accept any method and content type, and parse the body as bytes. They are plain
 * Fastify routes, because all requests of providers use them and Nest's pipeline would only add overhead.
 */
@Injectable()
export class Ingest implements OnModuleInit {
  /** The endpoint of each request, if it was found before the body was read. */
  private readonly addressees = new WeakMap<FastifyRequest, Addressee>();
  private readonly called: CustomHostRouter;

  constructor(
    private readonly adapterHost: HttpAdapterHost,
    private readonly reception: Reception,
    private readonly gate: AuthenticationHook,
    private readonly filter: EnvelopeFilter,
    private readonly config: Config,
    private readonly bodies: RequestBodies,
    hosts: CustomHosts,
  ) {
    this.called = new CustomHostRouter(hosts, config.trustProxy);
  }

  onModuleInit(): void {
    if (!this.config.isApi) return;
    EdgeAdapter.from(this.adapterHost.httpAdapter).routeByHost((request) => this.called.urlOf(request));
    const fastify = this.adapterHost.httpAdapter.getInstance<FastifyInstance>();
    // Registers a separate plugin, so that the parser below applies only to these routes.
    void fastify.register((scope, _options, done) => {
      scope.removeAllContentTypeParsers();
      // Fastify rejects content types that it cannot parse, regardless of the registered parsers. Providers send such
      // content types, so the header is replaced here. `rawHeaders` keeps the original value.
      scope.addHook('onRequest', (request, _reply, next) => {
        const { headers } = request.raw;
        if (headers['content-type'] !== undefined) headers['content-type'] = 'application/octet-stream';
        next();
      });
      // Runs before the body is read, so that a disallowed method gets 405 even if the body is too large.
      scope.addHook('onRequest', async (request, reply) => {
        try {
          const asked = this.find(request);
          const found = asked instanceof Promise ? await asked : asked;
          if (found === null) return;
          this.reception.admit(found, request.method);
          this.addressees.set(request, found);
        } catch (error) {
          // If the database is unavailable, the error is reported after the body has been read.
          if (error instanceof ApiError && error.type === 'method_not_allowed')
            await this.filter.answer(error, request, reply);
        }
      });
      scope.addContentTypeParser('*', (request, payload, parsed) =>
        this.bodies.read(payload, limitOf(this.addressees.get(request)), parsed),
      );
      scope.route({
        method: everyMethod(scope),
        url: `${INGEST_PREFIX}*`,
        // Providers are not API callers, so their requests are not rate limited. Only unknown paths count toward a
        // limit.
        config: { access: 'public', uncounted: true },
        exposeHeadRoute: false,
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
    } finally {
      this.bodies.release(request.raw);
    }
    return reply;
  }

  private find(request: FastifyRequest): Addressee | null | Promise<Addressee | null> {
    const [path] = partsOf(request);
    // The router decodes paths before it matches. A path that contains the prefix only after decoding is not an
    // endpoint's URL.
    if (!path.startsWith(INGEST_PREFIX)) return null;
    return this.reception.find(path.slice(INGEST_PREFIX.length), this.called.findHost(request.raw)?.domainId ?? null);
  }

  private async receive(request: FastifyRequest, reply: FastifyReply): Promise<void> {
    const known = this.addressees.get(request);
    const found = known ?? (await this.find(request));
    const { body } = request;
    if (body instanceof RejectedBody) readBodyOn(request, reply);
    if (found === null) {
      await this.gate.authenticateUnrouted(request, reply);
      throw noSuch('endpoint');
    }
    const { traceparent } = request.headers;
    const received = this.receivedRequest(request, partsOf(request)[1], this.called.findHost(request.raw));
    if (body instanceof RejectedBody) throw await this.reception.reject(found, received, known ? body : BUSY);
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

  /**
   * Returns the origin that the provider called, because a signature may cover it. Without BASE_URL, only a trusted
   * proxy can report the origin.
   */
  private originOf(request: FastifyRequest): string {
    const { configuredBaseUrl, baseUrl, trustProxy } = this.config;
    return configuredBaseUrl ?? (trustProxy.length > 0 ? originCalled(request) : null) ?? baseUrl;
  }

  /** Returns the scheme, from the header of the proxy that terminates TLS, or from BASE_URL. */
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
      throw new ApiError('unauthenticated', 'The signature does not hold. The request is stored, but not delivered.');
    if (answer === 'unavailable') {
      reply.code(502).header('content-type', 'application/json; charset=utf-8').header('retry-after', 1);
      const message = 'The response proxy of this endpoint is not available. Nothing was accepted; send it again.';
      await reply.send(JSON.stringify({ error: { type: 'internal', message, request_id: request.id, details: {} } }));
      return;
    }
    reply
      .code(answer.status)
      .headers(answer.headers === RECEIVED_HEADERS ? answer.headers : withoutSteering(answer.headers));
    // Tenants' responses have the same origin as Swagger UI, which stores API keys. Scripts in the responses must
    // therefore not run.
    if (answer.headers !== RECEIVED_HEADERS)
      reply.header('x-content-type-options', 'nosniff').header('content-security-policy', 'sandbox');
    await reply.send(bodyOf(answer));
  }
}

function limitOf(found: Addressee | undefined): BodyLimit {
  return found?.endpoint ?? LIMIT_OF_UNKNOWN;
}

function everyMethod(scope: FastifyInstance): string[] {
  for (const method of RECEIVED_METHODS) {
    if (scope.supportedMethods.includes(method)) continue;
    try {
      scope.addHttpMethod(method, { hasBody: true });
    } catch {
      // The HTTP parser of this Node.js version does not support this method, and rejects all requests that use it.
    }
  }
  return scope.supportedMethods;
}

function partsOf({ raw: { url = '' } }: FastifyRequest): [path: string, query: string] {
  const mark = url.indexOf('?');
  return mark === -1 ? [url, ''] : [url.slice(0, mark), url.slice(mark + 1)];
}

/**
 * Returns the body to send.
 *
 * A custom body is sent as bytes. For a string, Node.js would write the headers in UTF-8, and Fastify would add a
 * charset to the content type. The default response has fixed headers, which neither affects. Its body stays a string,
 * so that Node.js sends headers and body in one write.
 */
function bodyOf({ headers, body }: SynchronousAnswer): string | Buffer | undefined {
  if (headers === RECEIVED_HEADERS) return body;
  return body === '' ? undefined : Buffer.from(body);
}
