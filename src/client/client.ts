import createFetcher, { type Client as Fetcher, type FetchResponse, type MaybeOptionalInit } from 'openapi-fetch';
import { PosthornError, unexpected, UNEXPECTED_ANSWER } from './errors.js';
import type { paths } from './openapi.js';
import { DEFAULT_TRIES, send, type Tries } from './retries.js';
import { checkHeaders, usableApiKey, usableBaseUrl } from './settings.js';
import { streamEvents, type StreamMessage, type StreamOptions } from './stream.js';

export interface ClientOptions {
  /** URL of the service: `https://posthorn.example.com`. */
  baseUrl: string;
  apiKey: string;
  /** Timeout of one attempt in milliseconds. Defaults to 30,000. */
  timeoutMs?: number;
  /** Maximum number of retries after 429, 5xx and broken connections. Defaults to 4. */
  retries?: number;
  fetch?: Tries['fetch'];
  /** Function that replaces the wait between attempts, for your own tests. */
  wait?: Tries['wait'];
  /** Prefix of the `User-Agent` header. */
  userAgent?: string;
}

type Method = 'get' | 'post' | 'put' | 'patch' | 'delete';
type Media = `${string}/${string}`;
type PathOf<M extends Method> = {
  [P in keyof paths]: paths[P] extends { [K in M]: unknown }
    ? paths[P] extends { [K in M]?: never }
      ? never
      : P
    : never;
}[keyof paths];
type Answer<P extends keyof paths, M extends Method> = M extends keyof paths[P]
  ? paths[P][M] extends Record<string | number, unknown>
    ? Exclude<FetchResponse<paths[P][M], object, Media>['data'], undefined>
    : never
  : never;
/** Parameters, body and signal of a request, as arguments. Optional if the operation requires none of them. */
type Init<P extends keyof paths, M extends Method> = M extends keyof paths[P]
  ? object extends MaybeOptionalInit<paths[P], M>
    ? [init?: MaybeOptionalInit<paths[P], M> & Extra]
    : [init: MaybeOptionalInit<paths[P], M> & Extra]
  : never;
interface Extra {
  signal?: AbortSignal;
  headers?: Record<string, string>;
}
type Item<P extends keyof paths> = Answer<P, 'get'> extends { data: readonly (infer I)[] } ? I : never;

/**
 * Client typed by the OpenAPI document: `await posthorn.post('/v1/send', { body: { … } })` returns the response body or
 * throws `PosthornError`. Retries 429, 5xx and broken connections; all attempts of a POST have one idempotency key.
 */
export class PosthornClient {
  private readonly fetcher: Fetcher<paths>;
  private readonly tries: Tries;
  private readonly apiKey: string;
  readonly baseUrl: string;

  constructor(options: ClientOptions) {
    const {
      timeoutMs = DEFAULT_TRIES.timeoutMs,
      retries = DEFAULT_TRIES.triesMax - 1,
      fetch = DEFAULT_TRIES.fetch,
      wait = DEFAULT_TRIES.wait,
    } = options;
    this.baseUrl = usableBaseUrl(options.baseUrl);
    this.apiKey = usableApiKey(options.apiKey);
    this.tries = { ...DEFAULT_TRIES, timeoutMs, triesMax: retries + 1, fetch, wait };
    this.fetcher = createFetcher<paths>({
      baseUrl: this.baseUrl,
      headers: {
        authorization: `Bearer ${this.apiKey}`,
        'user-agent': `${options.userAgent ?? ''} posthorn-client`.trim(),
      },
      fetch: (request) => send(request, this.tries),
    });
  }

  get<P extends PathOf<'get'>>(path: P, ...init: Init<P, 'get'>): Promise<Answer<P, 'get'>> {
    return this.call('GET', path, init);
  }

  post<P extends PathOf<'post'>>(path: P, ...init: Init<P, 'post'>): Promise<Answer<P, 'post'>> {
    return this.call('POST', path, init);
  }

  put<P extends PathOf<'put'>>(path: P, ...init: Init<P, 'put'>): Promise<Answer<P, 'put'>> {
    return this.call('PUT', path, init);
  }

  patch<P extends PathOf<'patch'>>(path: P, ...init: Init<P, 'patch'>): Promise<Answer<P, 'patch'>> {
    return this.call('PATCH', path, init);
  }

  delete<P extends PathOf<'delete'>>(path: P, ...init: Init<P, 'delete'>): Promise<Answer<P, 'delete'>> {
    return this.call('DELETE', path, init);
  }

  /** Iterates over all items of a list and fetches pages as needed. */
  async *all<P extends PathOf<'get'>>(path: P, ...[init]: Init<P, 'get'>): AsyncGenerator<Item<P>, void, undefined> {
    const { params, ...rest } = (init ?? {}) as { params?: { query?: object } };
    let cursor: string | undefined;
    do {
      const query = { ...params?.query, ...(cursor !== undefined && { cursor }) };
      const page = await this.call<{ data: Item<P>[]; next_cursor?: string | null }>('GET', path, [
        { ...rest, params: { ...params, query } },
      ]);
      if (!Array.isArray((page as Partial<typeof page> | undefined)?.data))
        throw new PosthornError(
          200,
          UNEXPECTED_ANSWER,
          `${new URL(this.baseUrl).origin} did not return a list. Is this the URL of the service?`,
          null,
        );
      yield* page.data;
      cursor = page.next_cursor ?? undefined;
    } while (cursor !== undefined);
  }

  /** Returns a response that is not JSON, including its headers. Use it for payloads, raw emails and attachments. */
  async raw(path: string, init: RequestInit = {}): Promise<Response> {
    checkHeaders(init.headers);
    const headers = new Headers(init.headers);
    headers.set('authorization', `Bearer ${this.apiKey}`);
    return send(new Request(this.baseUrl + path, { ...init, headers }), this.tries);
  }

  /** Streams events until the signal is aborted. Reconnects after restarts and broken connections. */
  stream(options: StreamOptions = {}): AsyncGenerator<StreamMessage, void, undefined> {
    return streamEvents({ baseUrl: this.baseUrl, apiKey: this.apiKey, fetch: this.tries.fetch }, options);
  }

  private async call<T>(
    method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE',
    path: string,
    [init]: readonly unknown[],
  ): Promise<T> {
    const given = (init ?? {}) as { headers?: unknown; parseAs?: string };
    checkHeaders(given.headers);
    // `send` throws for error responses, so `fetched` never returns an error. A success without a body has no data.
    const fetched = this.fetcher[method] as (
      path: string,
      init: unknown,
    ) => Promise<{ data?: unknown; response: Response }>;
    const { data, response } = await fetched(path, given.parseAs === undefined ? { ...given, parseAs: 'text' } : given);
    return (given.parseAs === undefined ? this.parsed(method, data as string | undefined, response) : data) as T;
  }

  private parsed(method: string, text: string | undefined, response: Response): unknown {
    if ((text ?? '') === '' && (method !== 'GET' || response.status === 204)) return undefined;
    try {
      return JSON.parse(text ?? '') as unknown;
    } catch {
      const type = response.headers.get('content-type')?.slice(0, 100);
      throw unexpected(
        this.baseUrl,
        response,
        `${response.status} with ${(text ?? '') === '' ? 'nothing' : `what is no JSON${type === undefined ? '' : ` (${type})`}`}`,
      );
    }
  }
}
