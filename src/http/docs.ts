import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { SwaggerModule, type OpenAPIObject } from '@nestjs/swagger';
import type { FastifyReply, FastifyRequest, RouteOptions } from 'fastify';
import { fillInIds, openFirst, rememberIds } from './docs-interceptors.js';
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

/** What the page says beside the document's own description. */
const FIRST_STEPS = `**To try it out:** press *Authorize* and paste a key, open an operation, press *Try it out* and *Execute*. The first
example of every body works as it is, and ids that end in \`01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1\` stand for what was made or looked at last
on this page: create a destination, send to it, list the events.`;

/**
 * Serves the document at /openapi.json and Swagger UI at /docs, with a key kept over reloads. GET / leads people to the
 * one and programs to the other. Most processes are never asked, so `document` is called for the first who asks: a start
 * should not wait for what they would say.
 */
export function serveDocs(app: NestFastifyApplication, document: () => OpenAPIObject): void {
  const fastify = app.getHttpAdapter().getInstance();
  let text: string | null = null;
  fastify.get('/openapi.json', (_request: FastifyRequest, reply: FastifyReply) => {
    text ??= JSON.stringify(document());
    reply.header('content-type', JSON_TYPE).send(text);
  });
  fastify.get('/', (request: FastifyRequest, reply: FastifyReply) => {
    const isPerson = (request.headers.accept ?? '').includes('text/html');
    // Relative: the service may stand below a path of its host.
    reply.header('vary', 'accept').redirect(isPerson ? 'docs' : 'openapi.json', 302);
  });
  // Per route, so that no other answer pays for it.
  fastify.addHook('onRoute', (route: RouteOptions) => {
    if (route.url.startsWith('/docs')) route.onSend = protect;
  });
  SwaggerModule.setup('docs', app, () => forPeople(document()), {
    raw: false,
    customSiteTitle: 'Posthorn API',
    swaggerOptions: {
      persistAuthorization: true, displayRequestDuration: true, docExpansion: 'none', defaultModelsExpandDepth: 0,
      requestInterceptor: fillInIds, responseInterceptor: rememberIds, onComplete: openFirst,
    },
  });
}

/** A parameter, as far as Swagger UI reads it. */
interface Parameter {
  required?: boolean;
  description?: string;
  schema?: { default?: string | number | boolean; examples?: (string | number | boolean)[] };
}

/**
 * The document as Swagger UI shows it. It fills in what a schema calls its default and hides what it calls its examples:
 * of optional parameters both are said in words.
 */
function forPeople(document: OpenAPIObject): OpenAPIObject {
  const copy = structuredClone(document);
  copy.info.description = `${copy.info.description ?? ''}\n\n${FIRST_STEPS}`;
  const operations = Object.values(copy.paths).flatMap((item) => Object.values(item) as { parameters?: Parameter[] }[]);
  for (const parameter of operations.flatMap(({ parameters = [] }) => parameters)) {
    const { required, schema } = parameter;
    if (required === true || schema === undefined) continue;
    const { default: value, examples: [example] = [] } = schema;
    const said = value === undefined ? [] : [`Default: \`${String(value)}\`.`];
    if (example !== undefined && example !== value) said.push(`Example: \`${String(example)}\`.`);
    parameter.description = [parameter.description, ...said].join(' ');
    delete schema.default;
  }
  return copy;
}

type Sent = (error: null, payload: unknown) => void;

function protect(_request: FastifyRequest, reply: FastifyReply, payload: unknown, done: Sent): void {
  reply.headers(HEADERS);
  done(null, payload);
}
