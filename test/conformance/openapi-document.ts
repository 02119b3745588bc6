import { readdirSync, readFileSync } from 'node:fs';
import nodePath from 'node:path';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import type { ApiAnswer } from '../support/server.js';

/** A JSON Schema as written in the document. */
export interface Schema {
  $ref?: string;
  type?: string | string[];
  description?: string;
  properties?: Record<string, Schema>;
  items?: Schema;
  allOf?: Schema[];
  anyOf?: Schema[];
  oneOf?: Schema[];
  additionalProperties?: unknown;
  [keyword: string]: unknown;
}

interface Media {
  schema?: Schema;
  examples?: Record<string, { summary?: string; value: unknown }>;
}

export interface Response {
  $ref?: string;
  description?: string;
  headers?: Record<string, unknown>;
  content?: Record<string, Media>;
}

export interface Operation {
  operationId: string;
  summary?: string;
  description?: string;
  tags?: string[];
  security?: unknown[];
  parameters?: { name: string; in: string; description?: string; schema?: Schema; [keyword: string]: unknown }[];
  requestBody?: { content: Record<string, Media> };
  responses: Record<string, Response>;
}

/** The OpenAPI document of a running service, reduced to the parts that these tests read. */
export interface OpenApi {
  openapi: string;
  tags: { name: string; description?: string }[];
  paths: Record<string, Record<string, Operation>>;
  components: {
    schemas: Record<string, Schema>;
    responses: Record<string, Response>;
    securitySchemes: Record<string, object>;
  };
}

/** An operation: its method in capitals, and its path as written in the document. */
export interface Route {
  method: string;
  path: string;
  operation: Operation;
}

export function routesOf(document: OpenApi): Route[] {
  return Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ method: method.toUpperCase(), path, operation })),
  );
}

/** Returns each documented method of each controller in the sources, as `GET /v1/keys/{id}`. */
export function declaredRoutes(root: string): string[] {
  const files = readdirSync(nodePath.join(root, 'src'), { recursive: true, encoding: 'utf8' }).filter((file) =>
    file.endsWith('.controller.ts'),
  );
  return files.flatMap((file) => {
    const text = readFileSync(nodePath.join(root, 'src', file), 'utf8');
    if (/@ApiExclude(Controller|Endpoint)\(/.test(text)) return [];
    const [, prefix = ''] = /@Controller\((?:'([^']*)')?\)/.exec(text) ?? [];
    return [...text.matchAll(/^ {2}@(Get|Post|Put|Patch|Delete)\((?:'([^']*)')?\)/gm)].map(
      ([, verb = '', suffix = '']) => {
        const route = [prefix, suffix]
          .filter(Boolean)
          .join('/')
          .replaceAll(/:(\w+)/g, '{$1}');
        return `${verb.toUpperCase()} /${route}`;
      },
    );
  });
}

/** Returns every property of a schema with its path, including those of inline sub-schemas. */
export function propertiesOf(name: string, schema: Schema): [string, Schema][] {
  const own = Object.entries(schema.properties ?? {}).flatMap(([key, each]): [string, Schema][] => [
    [`${name}.${key}`, each],
    ...propertiesOf(`${name}.${key}`, each),
  ]);
  const parts = [
    ...(schema.allOf ?? []),
    ...(schema.anyOf ?? []),
    ...(schema.oneOf ?? []),
    ...(schema.items ? [schema.items] : []),
  ];
  return [...own, ...parts.flatMap((part) => propertiesOf(name, part))];
}

export function responseOf(document: OpenApi, response: Response): Response {
  return response.$ref ? (document.components.responses[response.$ref.split('/').pop() ?? ''] as Response) : response;
}

/** Compares the service's answers with its OpenAPI document, and records which answers were compared. */
export class Conformance {
  /** `operationId status` of every answer that was compared. */
  readonly compared = new Set<string>();
  private readonly ajv: Ajv2020;
  private readonly routes: Route[];

  constructor(private readonly document: OpenApi) {
    this.ajv = new Ajv2020({ strict: false, allErrors: true });
    (addFormats as unknown as (ajv: Ajv2020) => void)(this.ajv);
    this.ajv.addSchema(closed(document) as object, 'api');
    this.routes = routesOf(document);
  }

  /** Returns the faults of one call, in the response and, if the call succeeded, in the request body. */
  faults(method: string, url: string, body: unknown, apiAnswer: ApiAnswer): string[] {
    const route = this.find(method, url);
    const name = `${route.operation.operationId} ${apiAnswer.status}`;
    const documented = route.operation.responses[apiAnswer.status];
    if (!documented) return [`${name} is not documented`];
    this.compared.add(name);
    // String bodies are form-encoded and are not compared with the document.
    const sent =
      apiAnswer.status < 300 && body !== undefined && typeof body !== 'string'
        ? this.check(route, ['requestBody'], body)
        : [];
    return [...sent, ...this.answerFaults(route, apiAnswer)].map((fault) => `${name}: ${fault}`);
  }

  exampleFaults(schema: Schema, example: unknown): string[] {
    const validate = this.ajv.compile(schema as object);
    return validate(example) ? [] : said(validate);
  }

  componentFaults({ $ref = '' }: Schema, value: unknown): string[] {
    const validate = this.ajv.compile({ $ref: `api${$ref}` });
    return validate(value) ? [] : said(validate);
  }

  private answerFaults(route: Route, apiAnswer: ApiAnswer): string[] {
    const response = responseOf(this.document, route.operation.responses[apiAnswer.status] as Response);
    if (!response.content) return apiAnswer.text === '' ? [] : ['has a body, which is not documented'];
    const type = apiAnswer.headers.get('content-type');
    const missing =
      apiAnswer.status < 300
        ? Object.keys(response.headers ?? {}).filter((header) => !apiAnswer.headers.has(header))
        : [];
    // For a body that is not JSON, the document gives only the content type.
    if (response.content['application/json'] === undefined && !('*/*' in response.content)) {
      return Object.hasOwn(response.content, type ?? '') ? [] : [`has the content type ${type}`];
    }
    if ('*/*' in response.content && type !== null && !type.startsWith('application/json')) return [];
    return [
      ...(type === 'application/json; charset=utf-8' ? [] : [`has the content type ${type}`]),
      ...missing.map((header) => `lacks the header ${header}`),
      ...this.check(route, ['responses', String(apiAnswer.status)], apiAnswer.json),
    ];
  }

  private check(route: Route, at: string[], value: unknown): string[] {
    const place = at[0] === 'responses' ? route.operation.responses[at[1] ?? ''] : undefined;
    const pointer = place?.$ref
      ? place.$ref.slice(2).split('/')
      : ['paths', route.path, route.method.toLowerCase(), ...at];
    const path = [...pointer, 'content', 'application/json', 'schema'].map((part) =>
      encodeURIComponent(part.replaceAll('~', '~0').replaceAll('/', '~1')),
    );
    const validate = this.ajv.getSchema(`api#/${path.join('/')}`);
    if (!validate) return [`has no schema at ${path.join('/')}`];
    return validate(value) ? [] : said(validate as ValidateFunction);
  }

  /** Returns the operation of a call. Throws if the document does not have it. */
  find(method: string, url: string): Route {
    const path = url.split('?')[0] ?? '';
    const found = this.routes.filter(
      (route) => route.method === method && new RegExp(`^${route.path.replaceAll(/\{\w+\}/g, '[^/]+')}$`).test(path),
    );
    // A literal path takes precedence over a path with a parameter.
    const best = found.sort((a, b) => Number(a.path.includes('{')) - Number(b.path.includes('{')))[0];
    if (!best) throw new Error(`${method} ${path} is not in the document.`);
    return best;
  }
}

function said(validate: ValidateFunction): string[] {
  return (validate.errors ?? []).map(
    (error) => `${error.instancePath || '/'} ${error.message} ${JSON.stringify(error.params)}`,
  );
}

/** Returns the document with `additionalProperties: false` in its objects, so that an undocumented field is a fault. */
function closed(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(closed);
  if (typeof value !== 'object' || value === null) return value;
  const copy = Object.fromEntries(
    Object.entries(value).map(([key, each]) => [key, key === 'example' || key === 'examples' ? each : closed(each)]),
  );
  const isObject = copy['type'] === 'object' && typeof copy['properties'] === 'object';
  return isObject && copy['additionalProperties'] === undefined ? { ...copy, additionalProperties: false } : copy;
}
