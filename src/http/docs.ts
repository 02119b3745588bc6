import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { SwaggerModule, type OpenAPIObject } from '@nestjs/swagger';
import type { FastifyReply, FastifyRequest, RouteOptions } from 'fastify';
import { JSON_TYPE } from './envelope.js';

/** Everything that Swagger UI needs comes from here; its styles are inline and its icons are data URLs. */
const POLICY = [
  "default-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data:",
  "object-src 'none'",
  "frame-ancestors 'none'",
  "base-uri 'self'",
].join('; ');

const HEADERS = {
  'content-security-policy': POLICY,
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'referrer-policy': 'no-referrer',
};

/** Serves the document at /openapi.json and Swagger UI at /docs, with a key kept over reloads. */
export function serveDocs(app: NestFastifyApplication, document: OpenAPIObject): void {
  const fastify = app.getHttpAdapter().getInstance();
  const text = JSON.stringify(document);
  fastify.get('/openapi.json', (_request: FastifyRequest, reply: FastifyReply) => {
    reply.header('content-type', JSON_TYPE).send(text);
  });
  // Per route, so that no other answer pays for it.
  fastify.addHook('onRoute', (route: RouteOptions) => {
    if (route.url.startsWith('/docs')) route.onSend = protect;
  });
  SwaggerModule.setup('docs', app, document, {
    raw: false,
    customSiteTitle: 'Posthorn API',
    swaggerOptions: { persistAuthorization: true, displayRequestDuration: true, tagsSorter: 'alpha' },
  });
}

type Sent = (error: null, payload: unknown) => void;

function protect(_request: FastifyRequest, reply: FastifyReply, payload: unknown, done: Sent): void {
  reply.headers(HEADERS);
  done(null, payload);
}
