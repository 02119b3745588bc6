import { Buffer } from 'node:buffer';
import { Readable } from 'node:stream';
import type { EgressAgent } from './agent.js';
import type { EgressFailure } from './failure.js';

/** An exchange that brought no answer, as an SDK of AWS passes it on. */
export class ExchangeFailed extends Error {
  constructor(readonly failure: EgressFailure, detail: string) {
    super(detail);
  }
}

/** A request as an SDK of AWS has signed it. */
interface SignedRequest {
  method: string;
  protocol: string;
  hostname: string;
  port?: number;
  path: string;
  query?: Record<string, string | readonly string[] | null>;
  headers: Record<string, string>;
  body?: unknown;
}

interface SdkAnswer {
  response: { statusCode: number; headers: Record<string, string>; body: Readable };
}

/** What a service of AWS may take and answer. */
export interface SdkLimits {
  timeoutMs: number;
  answerBytesMax: number;
}

/**
 * The `requestHandler` of a client of AWS's SDK: every byte goes out through `agent`, and so through the policy. An answer
 * that is longer than expected is none.
 */
export function sdkRequests(agent: EgressAgent, { timeoutMs, answerBytesMax }: SdkLimits): { handle: (request: SignedRequest, options?: { abortSignal?: AbortSignal }) => Promise<SdkAnswer> } {
  return {
    handle: async (request, options) => {
      const { method, body } = request;
      // Not signed, and nobody here waits for a 100.
      const headers = Object.fromEntries(Object.entries(request.headers).filter(([name]) => name.toLowerCase() !== 'expect'));
      const signal = options?.abortSignal;
      const answer = await agent.exchange({ method, url: urlOf(request), headers, body: bytesOf(body), timeoutMs, bodyBytesMax: answerBytesMax, ...(signal && { signal }) });
      if (answer.kind === 'error') throw new ExchangeFailed(answer.error, answer.detail);
      if (answer.truncated) throw new ExchangeFailed('protocol', `The answer is longer than ${answerBytesMax} bytes.`);
      return { response: { statusCode: answer.status, headers: answer.headers, body: Readable.from([answer.body], { objectMode: false }) } };
    },
  };
}

/** The query as the signature has it: percent-encoded as RFC 3986 says. */
function urlOf({ protocol, hostname, port, path, query = {} }: SignedRequest): URL {
  const url = new URL(`${protocol}//${hostname}${port === undefined ? '' : `:${port}`}${path}`);
  const pairs = Object.entries(query).flatMap(([name, value]) => (value === null ? [name] : [value].flat().map((each) => `${encoded(name)}=${encoded(each)}`)));
  url.search = pairs.join('&');
  return url;
}

const encoded = (text: string): string => encodeURIComponent(text).replaceAll(/[!'()*]/g, (each) => `%${each.charCodeAt(0).toString(16).toUpperCase()}`);

function bytesOf(body: unknown): Buffer | string | null {
  if (body instanceof Uint8Array) return Buffer.from(body.buffer, body.byteOffset, body.byteLength);
  return typeof body === 'string' ? body : null;
}
