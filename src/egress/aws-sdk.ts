import { Buffer } from 'node:buffer';
import { Readable } from 'node:stream';
import { VERSION } from '#kernel/version.js';
import type { EgressAgent } from './agent.js';
import type { EgressFailure } from './failure.js';

/** An exchange that brought no answer, as an SDK of AWS passes it on. */
export class ExchangeFailed extends Error {
  constructor(
    readonly failure: EgressFailure,
    detail: string,
  ) {
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

/** What a service of AWS may take and answer. `timeoutMs` is for calls that say nothing of their own (`requestTimeout`). */
export interface SdkLimits {
  timeoutMs: number;
  answerBytesMax: number;
}

/** Where a client of AWS's SDK signs in. */
export interface SdkAccount {
  region: string;
  credentials: { accessKeyId: string; secretAccessKey: string; sessionToken?: string };
}

interface RequestHandler {
  handle(request: SignedRequest, options?: { requestTimeout?: number }): Promise<SdkAnswer>;
}

/**
 * What each client of AWS's SDK is given, so that it reads nothing from the environment, from files or from metadata services: every
 * option that it would look for there. It signs and reads the protocol; every byte goes out through `agent`. The number of
 * attempts, and what a service has besides, is the caller's.
 */
export function sdkSettings({ region, credentials }: SdkAccount, agent: EgressAgent, limits: SdkLimits) {
  return {
    region,
    // A copy: the SDK writes into what it is given.
    credentials: { ...credentials },
    retryMode: 'standard',
    defaultsMode: 'standard' as const,
    useDualstackEndpoint: false,
    useFipsEndpoint: false,
    userAgentAppId: '',
    authSchemePreference: [],
    disableClockSkewCorrection: false,
    defaultUserAgentProvider: (): Promise<[string, string][]> => Promise.resolve([['Posthorn', VERSION]]),
    requestHandler: sdkRequests(agent, limits),
  };
}

/** The client without the header that it adds from the variables of AWS Lambda. */
export function outsideOfLambda<Client extends { middlewareStack: { remove(name: string): boolean } }>(
  client: Client,
): Client {
  client.middlewareStack.remove('recursionDetectionMiddleware');
  return client;
}

/** Every byte goes out through `agent`, and so through the policy. An answer that is longer than expected is none. */
function sdkRequests(agent: EgressAgent, { timeoutMs: timeoutMsDefault, answerBytesMax }: SdkLimits): RequestHandler {
  return {
    handle: async (request, options) => {
      const { method, body } = request;
      // Not signed, and nobody here waits for a 100.
      const headers = Object.fromEntries(
        Object.entries(request.headers).filter(([name]) => name.toLowerCase() !== 'expect'),
      );
      const timeoutMs = options?.requestTimeout ?? timeoutMsDefault;
      const answer = await agent.exchange({
        method,
        url: urlOf(request),
        headers,
        body: bytesOf(body),
        timeoutMs,
        bodyBytesMax: answerBytesMax,
      });
      if (answer.kind === 'error') throw new ExchangeFailed(answer.error, answer.detail);
      if (answer.truncated) throw new ExchangeFailed('protocol', `The answer is longer than ${answerBytesMax} bytes.`);
      return {
        response: {
          statusCode: answer.status,
          headers: answer.headers,
          body: Readable.from([answer.body], { objectMode: false }),
        },
      };
    },
  };
}

/** The query as the signature has it: percent-encoded as RFC 3986 says. */
function urlOf({ protocol, hostname, port, path, query = {} }: SignedRequest): URL {
  const url = new URL(`${protocol}//${hostname}${port === undefined ? '' : `:${port}`}${path}`);
  const pairs = Object.entries(query).flatMap(([name, value]) =>
    value === null ? [name] : [value].flat().map((each) => `${encoded(name)}=${encoded(each)}`),
  );
  url.search = pairs.join('&');
  return url;
}

const encoded = (text: string): string =>
  encodeURIComponent(text).replaceAll(/[!'()*]/g, (each) => `%${each.charCodeAt(0).toString(16).toUpperCase()}`);

function bytesOf(body: unknown): Buffer | string | null {
  if (body instanceof Uint8Array) return Buffer.from(body.buffer, body.byteOffset, body.byteLength);
  return typeof body === 'string' ? body : null;
}
