import { request as plainRequest } from 'node:http';
import { request as tlsRequest } from 'node:https';
import type { components } from '../client/index.js';

type RawRequest = components['schemas']['RequestDetailItem'];

export interface LocalAnswer {
  status: number | null;
  error: string | null;
  durationMs: number;
}

/** Headers that apply to one connection only (hop-by-hop), and the content length, which is computed from the body. */
const OF_THE_CONNECTION: ReadonlySet<string> = new Set([
  'host',
  'connection',
  'keep-alive',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'expect',
  'content-length',
]);
/** Timeout of the whole exchange with the local program, so that a slow program does not block later requests. */
const TIMEOUT_MS = 30_000;
/** Placeholder that the API returns for an authentication header if the key has scope read. */
export const HIDDEN = '(hidden)';

/**
 * Sends a received request to the local program and returns the response. Preserves the method, the path below the
 * endpoint's path, the query, the header order and the exact body.
 */
export function forward(received: RawRequest, to: URL, timeoutMs = TIMEOUT_MS): Promise<LocalAnswer> {
  const body = Buffer.from(received.body, received.body_encoding === 'base64' ? 'base64' : 'utf8');
  const headers = ['host', to.host];
  for (const pair of received.headers) {
    const [name = '', value = ''] = pair;
    if (!OF_THE_CONNECTION.has(name.toLowerCase()) && value !== HIDDEN) headers.push(name, value);
  }
  if (body.length > 0 || !['GET', 'HEAD'].includes(received.method))
    headers.push('content-length', String(body.length));
  const begunMs = performance.now();
  const options = {
    method: received.method,
    path: targetOf(received, to),
    headers,
    hostname: to.hostname.replace(/^\[|\]$/g, ''),
    port: to.port,
  };
  return new Promise((resolve) => {
    const ended = (status: number | null, error: string | null): void =>
      resolve({ status, error, durationMs: Math.round(performance.now() - begunMs) });
    const failed = (error: NodeJS.ErrnoException): void =>
      ended(null, error.message === '' ? (error.code ?? 'failed') : error.message);
    try {
      // Headers are passed as an array of names and values, so that Node.js preserves their order, case and
      // repetitions.
      const outgoing = (to.protocol === 'https:' ? tlsRequest : plainRequest)(options as never, (answer) => {
        answer.resume();
        answer.once('end', () => ended(answer.statusCode ?? null, null));
        answer.once('error', failed);
      });
      const timer = setTimeout(
        () => outgoing.destroy(new Error(`no response within ${timeoutMs / 1_000} s`)),
        timeoutMs,
      );
      outgoing.once('close', () => clearTimeout(timer));
      outgoing.on('error', failed);
      outgoing.end(body);
    } catch (error) {
      // Node.js may reject a received request, for example because of a character in the path. Only this request fails.
      failed(error as Error);
    }
  });
}

export function targetOf({ path, query }: Pick<RawRequest, 'path' | 'query'>, to: URL): string {
  const suffix = path === '' || path.startsWith('/') ? path : `/${path}`;
  const base = suffix === '' ? to.pathname : to.pathname.replace(/\/$/, '');
  const queries = [to.search.slice(1), query].filter((part) => part !== '').join('&');
  return `${base}${suffix}${queries === '' ? '' : `?${queries}`}`;
}
