import { setTimeout as pause } from 'node:timers/promises';
import { runInNewContext } from 'node:vm';
import { type OpenApi, type Operation, type Route, routesOf, type Schema } from '../conformance/openapi-document.js';
import type { PosthornServer } from './server.js';

/** A call as Swagger UI sends it. */
export interface TriedCall {
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** An operation called by "Try it out", with its answer. */
export interface TriedAnswer {
  readonly operationId: string;
  readonly call: TriedCall;
  readonly status: number;
  readonly text: string;
}

/** Reason why the prefilled example of an operation cannot be tried, from the operation's extension `x-try-it-out`. */
interface Limit {
  after?: string;
  needs?: string;
}

interface UiCall {
  url: string;
  method: string;
  headers: Record<string, string>;
  body?: string;
}

interface Options {
  operationsSorter(a: Map<string, string>, b: Map<string, string>): number;
  requestInterceptor(request: UiCall): UiCall;
  responseInterceptor(response: { ok: boolean; status: number; url: string; text: string | Blob }): unknown;
}

/** The API page (Swagger UI), run without a browser. Its scripts run in a separate realm. */
export class SwaggerPage {
  private constructor(
    private readonly base: string,
    readonly document: OpenApi,
    private readonly options: Options,
  ) {}

  static async open(base: string): Promise<SwaggerPage> {
    const script = await (await fetch(`${base}/docs/swagger-ui-init.js`)).text();
    const document = JSON.parse(
      /"swaggerDoc": (\{[\s\S]*\n {2}\}),\n {2}"customOptions"/.exec(script)?.[1] ?? '{}',
    ) as OpenApi;
    const options = /"customOptions": (\{[\s\S]*\n {2}\})\n\}/.exec(script)?.[1] ?? '{}';
    return new SwaggerPage(base, document, runInNewContext(`(${options})`) as Options);
  }

  /** Returns the operations in page order: by the order of the tags, then by the order of the paths and methods. */
  routes(): Route[] {
    const all = routesOf(this.document);
    const seen = ({ path, method }: Route): Map<string, string> =>
      new Map([
        ['path', path],
        ['method', method.toLowerCase()],
      ]);
    return this.document.tags.flatMap(({ name }) =>
      all
        .filter(({ operation }) => operation.tags?.includes(name))
        .sort((a, b) => this.options.operationsSorter(seen(a), seen(b))),
    );
  }

  /** Presses "Try it out" and "Execute" of an operation, and returns the answer. `keys` has a key for each scheme. */
  async execute(route: Route, keys: Readonly<Record<string, string>>): Promise<TriedAnswer> {
    const { operation, method } = route;
    const [scheme] = (operation.security as Record<string, unknown>[])
      .flatMap((each) => Object.keys(each))
      .filter((name) => keys[name] !== undefined);
    const type = mediaTypeOf(operation);
    const { url, headers, body } = this.options.requestInterceptor({
      ...prefilled(this.base, route),
      method,
      headers: {
        accept: acceptOf(operation),
        ...(scheme !== undefined && { authorization: `Bearer ${keys[scheme]}` }),
        ...(type !== undefined && { 'content-type': type }),
      },
    });
    const response = await fetch(url, {
      method,
      headers: new Headers(headers),
      redirect: 'manual',
      ...(body !== undefined && { body }),
    });
    // Reads only the head of a stream, because a stream does not end.
    const isStream = response.headers.get('content-type')?.startsWith('text/event-stream') === true;
    const text = isStream ? '' : await response.text();
    if (isStream) await response.body?.cancel();
    // As in Swagger UI, the body is a Blob if the answer has another content type or none.
    const isText = /(json|xml|yaml|text)\b/.test(response.headers.get('content-type') ?? '');
    this.options.responseInterceptor({
      ok: response.ok,
      status: response.status,
      url,
      text: isText ? text : new Blob([text]),
    });
    return {
      operationId: operation.operationId,
      call: { method, url, headers, ...(body !== undefined && { body }) },
      status: response.status,
      text,
    };
  }
}

/**
 * Returns the operations in the order in which they are tried: by section, but some operations only after another
 * section. Returns the operations that cannot succeed from the page alone separately, as `exceptional`.
 */
export function tourOf(document: OpenApi, routes: readonly Route[]): { tried: Route[]; exceptional: Route[] } {
  const limitOf = ({ operation }: Route): Limit =>
    (operation as unknown as Record<string, Limit | undefined>)['x-try-it-out'] ?? {};
  const tried = document.tags.flatMap(({ name }) => [
    ...routes.filter(
      (route) =>
        route.operation.tags?.[0] === name && limitOf(route).after === undefined && limitOf(route).needs === undefined,
    ),
    ...routes.filter((route) => limitOf(route).after === name),
  ]);
  return { tried, exceptional: routes.filter((route) => limitOf(route).needs !== undefined) };
}

/** If a 202 answer contains the id of a job, waits until this job has ended. Returns at once for other answers. */
export async function jobOf(server: PosthornServer, { status, text }: { status: number; text: string }): Promise<void> {
  const [job] = status === 202 ? (/rpj_[0-9A-Z]{26}/.exec(text) ?? []) : [];
  while (
    job !== undefined &&
    /^(pending|running)$/.test((await server.api('GET', `/v1/replays/${job}`)).json.state as string)
  )
    await pause(50);
}

/**
 * Returns the call of an operation as "Try it out" prefills it: the required parameters, and the first example of the
 * body.
 */
function prefilled(base: string, { path, operation }: Route): { url: string; body?: string } {
  const query = new URLSearchParams();
  let url = path;
  for (const { name, in: where, ...parameter } of operation.parameters ?? []) {
    const value = parameter['example'] ?? parameter.schema?.['example'] ?? parameter.schema?.['default'];
    if (value === undefined) continue;
    const text = typeof value === 'string' ? value : JSON.stringify(value);
    if (where === 'path') url = url.replace(`{${name}}`, encodeURIComponent(text));
    if (where === 'query') query.append(name, text);
  }
  const type = mediaTypeOf(operation);
  const body = type === undefined ? undefined : bodyOf(type, operation.requestBody?.content[type] ?? {});
  return { url: `${base}${url}${query.size > 0 ? `?${query.toString()}` : ''}`, ...(body !== undefined && { body }) };
}

function mediaTypeOf({ requestBody }: Operation): string | undefined {
  return Object.keys(requestBody?.content ?? {})[0];
}

/** Returns the content type that is selected for the first 2xx answer with a body. */
function acceptOf({ responses }: Operation): string {
  const [type = 'application/json'] = Object.entries(responses)
    .filter(([status]) => status.startsWith('2'))
    .flatMap(([, { content = {} }]) => Object.keys(content));
  return type;
}

function bodyOf(
  type: string,
  { examples = {}, schema }: { examples?: Record<string, { value: unknown }>; schema?: Schema },
): string {
  const [first] = Object.values(examples);
  if (type === 'application/x-www-form-urlencoded') {
    const fields = Object.entries(schema?.properties ?? {}).map(([name, { example }]): [string, string] => [
      name,
      typeof example === 'string' ? example : '',
    ]);
    return new URLSearchParams(fields).toString();
  }
  return JSON.stringify(first?.value, null, 2);
}
