import { request as plainRequest } from 'node:http';
import { request as tlsRequest } from 'node:https';
import type { components } from '../client/index.js';

type RawRequest = components['schemas']['RequestDetailItem'];

/** What the local program answered. */
export interface LocalAnswer {
  status: number | null;
  /** Why there was no answer. */
  error: string | null;
  durationMs: number;
}

/** Of one connection, and so not of the request; the length is that of the body. */
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
/** Of the whole exchange: a program that trickles holds up what comes behind. */
const TIMEOUT_MS = 30_000;
/** What a key of scope read is shown in place of a header that authenticates. */
export const HIDDEN = '(hidden)';

/** Sends a received request on: its method, the path behind the endpoint's own, its query, its headers in their order, and its body byte for byte. */
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
      // An array of names and values goes out as it is: repeated names, their order and their case.
      const outgoing = (to.protocol === 'https:' ? tlsRequest : plainRequest)(options as never, (answer) => {
        answer.resume();
        answer.once('end', () => ended(answer.statusCode ?? null, null));
        answer.once('error', failed);
      });
      const timer = setTimeout(() => outgoing.destroy(new Error(`no answer within ${timeoutMs / 1_000} s`)), timeoutMs);
      outgoing.once('close', () => clearTimeout(timer));
      outgoing.on('error', failed);
      outgoing.end(body);
    } catch (error) {
      // What came in and may not go out again, such as a character that Node.js sends in no path, ends that request and not the tunnel.
      failed(error as Error);
    }
  });
}

/** The path and the query that the local program is asked for. */
export function targetOf({ path, query }: Pick<RawRequest, 'path' | 'query'>, to: URL): string {
  const suffix = path === '' || path.startsWith('/') ? path : `/${path}`;
  const base = suffix === '' ? to.pathname : to.pathname.replace(/\/$/, '');
  const queries = [to.search.slice(1), query].filter((part) => part !== '').join('&');
  return `${base}${suffix}${queries === '' ? '' : `?${queries}`}`;
}
