import { createRequire } from 'node:module';
import path from 'node:path';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { type OpenAPIObject, SwaggerModule } from '@nestjs/swagger';
import type { FastifyReply, FastifyRequest, RouteOptions } from 'fastify';
import { Config } from '#kernel/config/config.js';
import { deleteLast, fillInIds, openFirst, rememberIds } from './docs-interceptors.js';
import { DOCS_STYLE } from './docs-style.js';
import { JSON_TYPE } from './envelope.js';
import { isIngestHost } from './forwarded.js';
import { TRY_IT_OUT, type TryItOut } from './openapi-sections.js';

/** Content Security Policy of Swagger UI: files only from this origin, inline styles, and icons in data URLs. */
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

/**
 * Swagger UI's files, as packaged by @fastify/swagger-ui. In package.json, swagger-ui-dist is an alias of this package,
 * because the original swagger-ui-dist depends on install telemetry (docs/adr/0040).
 */
const UI_FILES = path.join(
  path.dirname(createRequire(import.meta.url).resolve('swagger-ui-dist/package.json')),
  'static',
);

/**
 * The console's icon, which replaces Fastify's. It is copied into this file, because the name of the icon's own file
 * differs from build to build.
 */
const ICON =
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" rx="7" fill="#0a58b5"/>' +
  '<path d="M8 16a8 8 0 1 1 8 8H8v-3h8a5 5 0 1 0-5-5v3H8z" fill="#fff"/><circle cx="16" cy="16" r="2" fill="#fff"/></svg>';

const FIRST_STEPS = `**To try it out:** press *Authorize* and paste a key. Work through the page from top to bottom: open an operation, press
*Try it out*, then *Execute*. The first example of every operation works unchanged, unless its description names a prerequisite. Ids
that end in \`01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1\` are placeholders: the page replaces each by the latest id of its kind in a response on this
page. *Request URL* and *Curl* of a response show the request that was sent. A reload clears the key and the ids.`;

/**
 * Serves the OpenAPI document and Swagger UI, which stores no key. GET / redirects browsers to the console or Swagger
 * UI, and programs to the document.
 *
 * `document` is called on the first request, because building the document would delay the start.
 */
export function serveDocs(app: NestFastifyApplication, document: () => OpenAPIObject): void {
  const fastify = app.getHttpAdapter().getInstance();
  const config = app.get(Config);
  let text: string | null = null;
  fastify.get('/openapi.json', (_request: FastifyRequest, reply: FastifyReply) => {
    text ??= JSON.stringify(document());
    reply.header('content-type', JSON_TYPE).send(text);
  });
  fastify.get('/', (request: FastifyRequest, reply: FastifyReply) => {
    const isPerson = (request.headers.accept ?? '').includes('text/html');
    // The console's route may be missing: this depends on the role of the process, on CONSOLE, and on the build.
    const hasConsole = fastify.hasRoute({ method: 'GET', url: '/console' }) && !isIngestHost(request, config);
    const page = isPerson ? (hasConsole ? 'console' : 'docs') : 'openapi.json';
    // The redirect is relative, because without BASE_URL a proxy may serve Posthorn below an unknown path.
    reply
      .header('vary', 'accept')
      .redirect(config.configuredBaseUrl === null ? page : `${config.basePath}/${page}`, 302);
  });
  // Sets the `onSend` hook on the routes of the documentation only, so that it costs nothing on other routes.
  fastify.addHook('onRoute', (route: RouteOptions) => {
    if (route.url.startsWith('/docs')) route.onSend = protect;
  });
  SwaggerModule.setup('docs', app, () => forPeople(document()), {
    raw: false,
    customSiteTitle: 'Posthorn API',
    customCss: DOCS_STYLE,
    customSwaggerUiPath: UI_FILES,
    customfavIcon: `data:image/svg+xml,${encodeURIComponent(ICON)}`,
    swaggerOptions: {
      persistAuthorization: false,
      deepLinking: true,
      displayRequestDuration: true,
      docExpansion: 'none',
      defaultModelsExpandDepth: 0,
      operationsSorter: deleteLast,
      requestInterceptor: fillInIds,
      responseInterceptor: rememberIds,
      onComplete: openFirst,
    },
  });
}

interface Operation {
  description?: string;
  parameters?: Parameter[];
  [TRY_IT_OUT]?: TryItOut;
}

interface Parameter {
  required?: boolean;
  description?: string;
  schema?: { default?: string | number | boolean; examples?: (string | number | boolean)[] };
}

/**
 * Marks the document as normalized for Swagger UI (checked by library-internals.spec.ts). Swagger UI would otherwise copy
 * the security and the servers of the document to every operation whenever a reader opens one, which takes about half of
 * the time of opening. The copies are not needed, because Swagger UI falls back to those of the document.
 */
const NORMALIZED = { $$normalized: true };

/**
 * Returns the document for Swagger UI. Moves defaults and examples of optional parameters to the descriptions, because
 * Swagger UI would send the defaults and hide the examples.
 */
function forPeople(document: OpenAPIObject): OpenAPIObject {
  const copy = structuredClone(document);
  copy.info.description = `${copy.info.description ?? ''}\n\n${FIRST_STEPS}`;
  const operations = Object.values(copy.paths).flatMap((item) => Object.values(item) as Operation[]);
  for (const operation of operations) {
    const limit = operation[TRY_IT_OUT];
    if (limit !== undefined)
      operation.description = [operation.description, describeLimit(limit)].filter(Boolean).join('\n\n');
  }
  for (const parameter of operations.flatMap(({ parameters = [] }) => parameters)) {
    const { required, schema } = parameter;
    if (required === true || schema === undefined) continue;
    const { default: value, examples: [example] = [] } = schema;
    const said = value === undefined ? [] : [`Default: \`${String(value)}\`.`];
    if (example !== undefined && example !== value) said.push(`Example: \`${String(example)}\`.`);
    parameter.description = [parameter.description, ...said].join(' ');
    delete schema.default;
  }
  return Object.assign(copy, NORMALIZED);
}

function describeLimit(limit: TryItOut): string {
  if ('needs' in limit) return `**To try it out** you need ${limit.needs}.`;
  return `**Try it out** after the section *${limit.after}*, whose examples use the resource that this operation deletes.`;
}

type Sent = (error: null, payload: unknown) => void;

function protect(_request: FastifyRequest, reply: FastifyReply, payload: unknown, done: Sent): void {
  reply.headers(HEADERS);
  done(null, payload);
}
