import type { INestApplication, Type } from '@nestjs/common';
import { DECORATORS, DocumentBuilder, type OpenAPIObject, SwaggerModule } from '@nestjs/swagger';
import { VERSION } from '#kernel/version.js';
import { bodyExamples, unfilled } from './openapi-examples.js';
import { RATE_LIMIT_HEADERS, SHARED_COMPONENTS, sharedResponse } from './openapi-responses.js';
import { inOrder, sections } from './openapi-sections.js';
import type { RouteHandler } from './routes.js';
import { takesSession } from './session-requests.js';
import { describeInputs, describeValidatedClasses } from './validation-schemas.js';

interface Operation {
  operationId?: string;
  tags?: string[];
  security?: Record<string, string[]>[];
  parameters?: Record<string, unknown>[];
  description?: string;
  requestBody?: { required?: boolean; content: Record<string, { examples?: unknown }> };
  responses: Record<string, Record<string, unknown>>;
}

const SECURITY_SCHEME = 'apiKey';

const OPERATOR_SCHEME = 'operatorKey';
const OPERATOR_DESCRIPTION =
  'The `OPERATOR_KEY` of the installation. It creates and removes organizations, and cannot read their data.';

const SECURITY_DESCRIPTION =
  'An API key: `ek_live_…` or `ek_test_…`. Its scope is `read`, `write` (includes `read`) or `admin` (includes both).';

const SESSION_SCHEME = 'session';
const SESSION_DESCRIPTION =
  "For Posthorn's own pages, instead of a key: the session cookie of a signed-in member, which the browser sends by itself. Requests also need `X-Posthorn-Console: 1` and " +
  '`X-Posthorn-Environment: live` or `test`. Only `/v1/session` needs no environment. An `EventSource` at `/v1/events/stream` cannot send headers and has `environment` ' +
  "in its query instead. `Origin` and `Sec-Fetch-Site`, if present, must be those of Posthorn's own origin. The member's role determines the scope. The name of the cookie ends with an id of the " +
  'installation, such as `posthorn_session_5f0c2a91`, and begins with `__Host-` if `BASE_URL` is https.';

const PORTAL_SCHEME = 'portalToken';
const PORTAL_DESCRIPTION =
  'For the customer portal, instead of a key: the `pt_…` token of `POST /v1/app/{app}/portal`. It gives access only to its own application, by the `app_` id. Each operation lists the permission that the token needs.';

/** Methods whose requests may have a body, even if the operation does not use it. */
const WITH_BODY: ReadonlySet<string> = new Set(['POST', 'PUT', 'PATCH', 'DELETE']);

const DESCRIPTION = `Sends signed webhooks, retries them for 28 hours, and records every attempt.

Every error response has the form \`{error: {type, message, request_id, details}}\`. Lists have the form
\`{data, next_cursor}\`, newest first. POST operations that send or create take an \`Idempotency-Key\`.
Operations without a request body accept no body or \`{}\`, and reject fields with 422. The body of a GET is ignored.
New fields can be added to responses at any time: ignore fields that you do not know.`;

/** Builds the OpenAPI document from the controllers. Call `closeBodies` and then `finishDocument` to complete it. */
export function buildDocument(app: INestApplication, routes: readonly RouteHandler[], basePath: string): OpenAPIObject {
  const config = new DocumentBuilder()
    .setOpenAPIVersion('3.1.0')
    .setTitle('Posthorn')
    .setDescription(DESCRIPTION)
    .setVersion(VERSION)
    .setLicense('MIT', 'https://opensource.org/license/mit')
    .addServer(basePath, 'This server')
    .addSecurity(SECURITY_SCHEME, { type: 'http', scheme: 'bearer', description: SECURITY_DESCRIPTION })
    .addSecurity(OPERATOR_SCHEME, { type: 'http', scheme: 'bearer', description: OPERATOR_DESCRIPTION })
    .addSecurity(SESSION_SCHEME, {
      type: 'apiKey',
      in: 'cookie',
      name: 'posthorn_session',
      description: SESSION_DESCRIPTION,
    })
    .addSecurity(PORTAL_SCHEME, { type: 'http', scheme: 'bearer', description: PORTAL_DESCRIPTION })
    .addSecurityRequirements(SECURITY_SCHEME)
    .build();
  const queries = routes.flatMap<Type>(({ query }) => query ?? []);
  describeValidatedClasses();
  return SwaggerModule.createDocument(app, config, {
    extraModels: queries,
    operationIdFactory: (_controller, method) => method,
  });
}

/**
 * Builds only the schemas for request validation. At start, this takes a third of the time of building the whole
 * document.
 */
export function buildInputs(app: INestApplication, routes: readonly RouteHandler[]): OpenAPIObject {
  const config = new DocumentBuilder().setOpenAPIVersion('3.1.0').build();
  const inputs = new Set(routes.flatMap<Type>(({ body, query }) => [body ?? [], query ?? []].flat()));
  const referred = routes.flatMap(({ body, controller, name }) => (body ? referredTo(controller, name) : []));
  describeInputs(inputs, referred);
  return SwaggerModule.createDocument(app, config, {
    include: [NoModule],
    extraModels: [...new Set([...inputs, ...referred])],
  });
}

/**
 * Returns the classes in `@ApiExtraModels` on the controller or the handler. A schema may refer to such a class by name
 * only.
 */
function referredTo(controller: Type, handler: string): Type[] {
  const places = [controller, (controller.prototype as Record<string, object>)[handler] as object];
  return places.flatMap((place) => (Reflect.getMetadata(DECORATORS.API_EXTRA_MODELS, place) ?? []) as Type[]);
}

/** A module without routes. An empty list of modules would include every module. */
class NoModule {}

/**
 * Completes the OpenAPI document: adds the errors, headers, access and idempotency keys of each operation, and drops
 * unused components. Changes `document` and returns it.
 */
export function finishDocument(document: OpenAPIObject, routes: readonly RouteHandler[]): OpenAPIObject {
  const byName = new Map(routes.map((route) => [route.name, route]));
  const used = new Set<string>();
  for (const [url, item] of Object.entries(document.paths)) {
    for (const operation of Object.values(item) as Operation[]) {
      const route = byName.get(operation.operationId ?? '');
      if (!route) continue;
      completeOperation(operation, route, url);
      if (operation.requestBody && route.body) completeBody(operation.requestBody, document, route.body.name);
      for (const tag of operation.tags ?? []) used.add(tag);
    }
  }
  document.tags = sections(used);
  document.paths = inOrder(document.paths);
  document.components = {
    ...document.components,
    headers: SHARED_COMPONENTS.headers,
    responses: SHARED_COMPONENTS.responses as never,
    schemas: Object.assign({}, document.components?.schemas, SHARED_COMPONENTS.schemas),
  };
  dropUnused(document, ['responses', 'schemas', 'headers']);
  return document;
}

function completeOperation(operation: Operation, { config, ...route }: RouteHandler, url: string): void {
  completeAccess(operation, config, url);
  if (config.idempotency !== undefined) (operation.parameters ??= []).push(idempotencyKeyParameter(config));
  for (const parameter of operation.parameters ?? []) {
    parameter['description'] ??= `The ${String(parameter['name'])}.`;
    unfilled(parameter);
  }
  for (const [status, own] of Object.entries(operation.responses)) {
    own['description'] ||= DESCRIPTIONS[status] ?? 'The response.';
    if (config.uncounted !== true && !('$ref' in own))
      own['headers'] = Object.assign({}, RATE_LIMIT_HEADERS, own['headers']);
  }
  const statuses = new Set([400, 431, 500, 503]);
  const add = (applies: boolean, ...more: number[]): void => more.forEach((status) => applies && statuses.add(status));
  add(config.uncounted !== true, 429);
  add(config.access !== 'public', 401, 403);
  add(url.includes('{'), 404);
  add(config.idempotency !== undefined, 409);
  add(WITH_BODY.has(route.method), 413, 415);
  add(route.body !== null, 409, 422);
  add(route.isBodiless, 422);
  for (const status of Object.keys(operation.responses).map(Number)) add(status >= 400, status);
  for (const status of statuses) mergeError(operation.responses, status);
  if ([config.oauth, config.page, config.resendErrors].includes(true)) reformErrors(operation.responses, config);
}

/**
 * Documents the errors of a route in its own format (OAuth, email or HTML page) instead of the standard error envelope.
 * A route that parses forms has no 415.
 */
function reformErrors(
  responses: Operation['responses'],
  { oauth, takesForm, resendErrors }: RouteHandler['config'],
): void {
  if (takesForm === true) delete responses['415'];
  for (const [status, { $ref, ...own }] of Object.entries(responses)) {
    if (Number(status) < 400 || status === '431') continue;
    const shared = SHARED_COMPONENTS.responses[typeof $ref === 'string' ? ($ref.split('/').at(-1) ?? '') : ''] ?? {};
    const json = resendErrors === true ? 'EmailError' : oauth === true ? 'OAuthError' : null;
    const content =
      json === null
        ? { 'text/html; charset=utf-8': { schema: { type: 'string' } } }
        : { 'application/json': { schema: { $ref: `#/components/schemas/${json}` } } };
    responses[status] = Object.assign({}, shared, own, { content });
  }
}

/** Documents the required scope as a role in the security scheme (OpenAPI 3.1) and in a sentence. */
function completeAccess(operation: Operation, config: RouteHandler['config'], url: string): void {
  const { access } = config;
  if (access === 'operator') return operatorsOwn(operation);
  operation.security = access === undefined || access === 'public' ? [] : [{ [SECURITY_SCHEME]: [access] }];
  if (access !== undefined && takesSession(config, url)) operation.security.push({ [SESSION_SCHEME]: [access] });
  if (config.portal !== undefined) operation.security.push({ [PORTAL_SCHEME]: [config.portal.permission] });
  if (operation.security.length === 0) return;
  const needs = config.anyEnvironment === true ? 'Needs a session.' : `Needs a key of scope \`${access}\`.`;
  operation.description = [operation.description, needs].filter(Boolean).join(' ');
}

function operatorsOwn(operation: Operation): void {
  operation.security = [{ [OPERATOR_SCHEME]: [] }];
  operation.description = [operation.description, "Needs the operator's key."].filter(Boolean).join(' ');
}

/** Makes the body optional if it has no required fields. */
function completeBody(body: NonNullable<Operation['requestBody']>, document: OpenAPIObject, schema: string): void {
  body.required = requiresFields(document, schema);
  for (const media of Object.values(body.content)) media.examples ??= bodyExamples(document, schema);
}

function requiresFields(document: OpenAPIObject, schema: string): boolean {
  const { required = [] } = (document.components?.schemas?.[schema] ?? {}) as { required?: string[] };
  return required.length > 0;
}

/** Adds the shared error schema and example to an error response. Keeps the operation's own description. */
function mergeError(responses: Operation['responses'], status: number): void {
  const name = sharedResponse(status) as string;
  const own = responses[status];
  if (!own) responses[status] = { $ref: `#/components/responses/${name}` };
  else own['content'] ??= { 'application/json': { schema: { $ref: '#/components/schemas/Error' } } };
}

const DESCRIPTIONS: Readonly<Record<string, string>> = {
  200: 'The request succeeded.',
  201: 'Created.',
  202: 'Accepted: stored, and processed asynchronously.',
  204: 'Done. The response has no body.',
};

function idempotencyKeyParameter({ takesAnyKey }: RouteHandler['config']): Record<string, unknown> {
  const schema =
    takesAnyKey === true
      ? { type: 'string', pattern: '^[\\x20-\\x7e]{1,256}$', minLength: 1, maxLength: 256 }
      : { type: 'string', format: 'uuid' };
  const kind = takesAnyKey === true ? 'printable text of up to 256 characters' : 'a UUID';
  return {
    name: 'Idempotency-Key',
    in: 'header',
    required: false,
    description:
      `Idempotency key: ${kind} that you choose for this request, such as \`0b9f1c6e-6a3c-4b7e-9a57-2f7f0f8f4c11\`. For a day, a repeat with ` +
      'this key is not processed again and gets the first 2xx response, with `Idempotent-Replayed: true`. After a rejection you can send ' +
      'the request again with this key.',
    schema,
    example: '0b9f1c6e-6a3c-4b7e-9a57-2f7f0f8f4c11',
  };
}

function dropUnused(document: OpenAPIObject, sections: readonly ('responses' | 'schemas' | 'headers')[]): void {
  for (let dropped = true; dropped;) {
    dropped = false;
    const text = JSON.stringify(document);
    for (const section of sections) {
      const components = (document.components?.[section] ?? {}) as Record<string, unknown>;
      for (const name of Object.keys(components)) {
        if (text.includes(`"#/components/${section}/${name}"`)) continue;
        delete components[name];
        dropped = true;
      }
    }
  }
}
