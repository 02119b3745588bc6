import { Buffer } from 'node:buffer';
import { SQSClient } from '@aws-sdk/client-sqs';
import type { EgressAgent } from '#egress/agent.js';
import type { EgressFailure } from '#egress/failure.js';
import type { QueueSettings } from './settings.js';

const USER_AGENT: [string, string] = ['Posthorn', '0.1'];
const ANSWER_BYTES_MAX = 256 * 1024;
const TIMEOUT_MS_DEFAULT = 15_000;

/** An exchange that brought no answer, as the SDK passes it on. */
export class ExchangeFailed extends Error {
  constructor(readonly failure: EgressFailure, detail: string) {
    super(detail);
  }
}

/** What of the SDK's request is sent: it has signed these. */
interface SignedRequest {
  method: string;
  path: string;
  headers: Record<string, string>;
  body?: unknown;
}

interface SdkAnswer { response: { statusCode: number; headers: Record<string, string>; body: Buffer } }

/**
 * The AWS SDK's client of one queue. It signs and reads the protocol; every byte goes out through `agent`, to the
 * endpoint of the settings. It makes one attempt and reads nothing from the environment, from files or from metadata
 * services: each option that it would look for there is given.
 */
export function queueClient({ endpoint, region, credentials }: Pick<QueueSettings, 'endpoint' | 'region' | 'credentials'>, agent: EgressAgent): SQSClient {
  const client = new SQSClient({
    endpoint,
    region,
    // A copy: the SDK writes into what it is given.
    credentials: { ...credentials },
    maxAttempts: 1,
    retryMode: 'standard',
    defaultsMode: 'standard',
    useDualstackEndpoint: false,
    useFipsEndpoint: false,
    userAgentAppId: '',
    authSchemePreference: [],
    disableClockSkewCorrection: false,
    defaultUserAgentProvider: () => Promise.resolve([USER_AGENT]),
    // The request's signature covers the body, and a mismatch would come after the queue has taken the messages.
    md5: false,
    requestHandler: { handle: (request: SignedRequest, options?: { requestTimeout?: number }) => exchange(agent, endpoint, request, options?.requestTimeout) },
  });
  // It adds a header from the variables of AWS Lambda.
  client.middlewareStack.remove('recursionDetectionMiddleware');
  return client;
}

async function exchange(agent: EgressAgent, endpoint: string, { method, path, headers, body }: SignedRequest, timeoutMs = TIMEOUT_MS_DEFAULT): Promise<SdkAnswer> {
  const url = new URL(endpoint);
  url.pathname = path;
  const answer = await agent.exchange({ method, url, headers, body: bytesOf(body), timeoutMs, bodyBytesMax: ANSWER_BYTES_MAX });
  if (answer.kind === 'error') throw new ExchangeFailed(answer.error, answer.detail);
  if (answer.truncated) throw new ExchangeFailed('protocol', `The answer is longer than ${ANSWER_BYTES_MAX} bytes.`);
  return { response: { statusCode: answer.status, headers: answer.headers, body: answer.body } };
}

function bytesOf(body: unknown): Buffer | string | null {
  if (body instanceof Uint8Array) return Buffer.from(body.buffer, body.byteOffset, body.byteLength);
  return typeof body === 'string' ? body : null;
}
