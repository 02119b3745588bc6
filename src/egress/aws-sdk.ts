import { Buffer } from 'node:buffer';
import { Readable } from 'node:stream';
import { VERSION } from '#kernel/version.js';
import type { EgressAgent } from './agent.js';
import type { EgressFailure } from './failure.js';

/** Thrown through an AWS SDK client when an exchange ended without a response. */
export class ExchangeFailed extends Error {
  constructor(
    readonly failure: EgressFailure,
    detail: string,
  ) {
    super(detail);
  }
}

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

/** Limits for calls to an AWS service. `timeoutMs` applies to calls without their own `requestTimeout`. */
export interface SdkLimits {
  timeoutMs: number;
  answerBytesMax: number;
}

export interface SdkAccount {
  region: string;
  credentials: { accessKeyId: string; secretAccessKey: string; sessionToken?: string };
}

interface RequestHandler {
  handle(request: SignedRequest, options?: { requestTimeout?: number }): Promise<SdkAnswer>;
}

/**
 * Returns all options that an AWS SDK client would otherwise read from the environment, files or metadata services. All
 * bytes go through `agent`. The caller sets the number of attempts and service-specific options.
 */
export function sdkSettings({ region, credentials }: SdkAccount, agent: EgressAgent, limits: SdkLimits) {
  return {
    region,
    // A copy, because the SDK modifies the object.
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

/** Removes the middleware that adds a header from the environment variables of AWS Lambda. Returns the client. */
export function outsideOfLambda<Client extends { middlewareStack: { remove(name: string): boolean } }>(
  client: Client,
): Client {
  client.middlewareStack.remove('recursionDetectionMiddleware');
  return client;
}

/**
 * Returns a request handler that sends through `agent`, under the egress policy. Fails if a response exceeds the limit.
 */
function sdkRequests(agent: EgressAgent, { timeoutMs: timeoutMsDefault, answerBytesMax }: SdkLimits): RequestHandler {
  return {
    handle: async (request, options) => {
      const { method, body } = request;
      // Drops the `expect` header, because this client does not wait for a 100 response. The header is not signed.
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
      if (answer.truncated)
        throw new ExchangeFailed('protocol', `The response is longer than ${answerBytesMax} bytes.`);
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

/** Returns the URL with the query encoded as in the signature: percent-encoded according to RFC 3986. */
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
