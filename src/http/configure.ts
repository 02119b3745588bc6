import { Logger } from '@nestjs/common';
import { ModuleRef, ModulesContainer } from '@nestjs/core';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { Config } from '#kernel/config/config.js';
import { showId } from '#kernel/ids.js';
import type { Caller } from '#kernel/tenant.js';
import { EdgeAdapter } from './adapter.js';
import { AuditInterceptor } from './audit.interceptor.js';
import { auditRoutes } from './audit.js';
import { AuthenticationHook } from './authentication-hook.js';
import { registerBodyLimits } from './body-limit.js';
import { registerJsonParser } from './body-parser.js';
import { registerCompression } from './compression.js';
import { injectConstraints } from './decorator-check.js';
import { serveDocs } from './docs.js';
import { EnvelopeFilter } from './envelope.filter.js';
import { registerFormParser } from './form-parser.js';
import { tidyForwardedFor } from './forwarded.js';
import { interceptIdempotencyFirst } from './idempotency.interceptor.js';
import { buildDocument, buildInputs, finishDocument } from './openapi.js';
import { checkRequest } from './request-checks.js';
import { checkRoutes, listRoutes } from './routes.js';
import { closeBodies, compileChecks } from './schemas.js';

/**
 * Configures an app that uses `createAdapter()` and `HttpModule`. Call it once, between `NestFactory.create` and `init`
 * or `listen`. Throws if a route does not declare its access, if two routes have the same name, or if the schema of a
 * body cannot be compiled.
 */
export function configureApp(app: NestFastifyApplication): void {
  const fastify = app.getHttpAdapter().getInstance();
  addHooks(app, fastify);
  registerBodyLimits(fastify);
  registerJsonParser(fastify);
  registerFormParser(fastify);
  registerCompression(fastify);

  const routes = listRoutes(app.get(ModulesContainer));
  checkRoutes(routes);
  interceptIdempotencyFirst(routes);
  auditRoutes(routes, app.get(AuditInterceptor));
  const { configuredBaseUrl } = app.get(Config);
  const document = once(() => {
    const built = buildDocument(app, routes, configuredBaseUrl === null ? '/' : new URL(configuredBaseUrl).pathname);
    closeBodies(built, routes);
    return finishDocument(built, routes);
  });
  compileChecks(buildInputs(app, routes), routes, document);
  if (routes.some(({ config }) => config.runDecorators)) injectConstraints(app.get(ModuleRef));
  serveDocs(app, document);
}

function once<Made extends object>(make: () => Made): () => Made {
  let made: Made | null = null;
  return () => (made ??= make());
}

const REQUEST_FIELDS = ['edge', 'caller', 'quotaVerdict', 'idempotency', 'bodyFault', 'rawBody', 'bodyText'] as const;

function addHooks(app: NestFastifyApplication, fastify: FastifyInstance): void {
  const gate = app.get(AuthenticationHook);
  const filter = app.get(EnvelopeFilter);
  // Declares all request fields in advance, so that V8 uses one hidden class for all request objects.
  for (const field of REQUEST_FIELDS) fastify.decorateRequest(field, null as never);
  fastify.decorateRequest('isOperator', false);
  if (app.get(Config).trustProxy.length > 0) {
    fastify.addHook('onRequest', (request, _reply, done) => {
      tidyForwardedFor(request);
      done();
    });
  }
  fastify.addHook('onRequest', (request, reply, done) => gate.authenticate(request, reply, done));
  fastify.addHook('preHandler', checkRequest);
  if (fastify.log.level === 'debug' || fastify.log.level === 'trace') fastify.addHook('onResponse', logResponse);

  EdgeAdapter.from(app.getHttpAdapter()).answerUnroutedBy(
    (error, request, reply) =>
      void gate.authenticateUnrouted(request, reply).then(
        () => filter.answer(error, request, reply),
        (refusal: unknown) => filter.answer(refusal, request, reply),
      ),
  );
  // Ignores an unknown value of the Expect header (RFC 9110, section 10.1.1). Node's own response would not have the
  // error envelope.
  const { server } = fastify;
  server.on('checkExpectation', (request: unknown, response: unknown) => server.emit('request', request, response));
}

const requests = new Logger('http');

/**
 * Returns the log fields that identify the caller. For a token that an extension authenticates, returns the token's
 * subject.
 */
function nameOf({ keyId, session, portal }: Caller): Record<string, string> {
  if (portal !== undefined) return { portal_session_id: showId('pls', portal.id) };
  if (session !== undefined) return { session_id: showId('ses', session.id) };
  return keyId.startsWith('token:') ? { subject: keyId.slice('token:'.length) } : { key_id: showId('ek', keyId) };
}

/** Logs at `debug`, because the filter logs server errors at `error`. Omits the query, which may contain secrets. */
function logResponse(request: FastifyRequest, reply: FastifyReply, done: () => void): void {
  const path = request.url.split('?', 1)[0];
  const fields = {
    request_id: request.id,
    duration_ms: Math.round(reply.elapsedTime * 10) / 10,
    client_address: request.ip,
    ...(request.caller && nameOf(request.caller)),
  };
  requests.debug(`${request.method} ${path} ${reply.statusCode}`, fields);
  done();
}
