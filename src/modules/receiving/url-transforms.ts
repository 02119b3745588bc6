import { Injectable } from '@nestjs/common';
import { EgressAgent } from '#egress/agent.js';
import { EgressGate } from '#egress/gate.js';
import type { CodeLogs } from '#engine/code-logs.js';
import type { ReceivedRequest, Verification } from '#engine/inbound/request.js';
import type { CredentialNames } from '#engine/inbound/secret-headers.js';
import { unpackedBody } from '#engine/inbound/unpacked.js';
import { signatureHeader } from '#engine/signing.js';
import { Clock } from '#kernel/clock.js';
import { KeyedSemaphore } from '#kernel/concurrency/keyed-semaphore.js';
import { USER_AGENT } from '#kernel/version.js';
import { Environments } from '#modules/auth/environments/environments.js';
import { TRANSFORM_TIMEOUT_MS } from '#modules/endpoints/contract.js';
import type { LiveEndpoint } from './live-endpoint.js';

/** `logs` is omitted if the code wrote nothing to the console. */
export type TransformResult = (
  | { kind: 'unchanged' }
  | TransformedEvent
  | { kind: 'dropped' }
  /** Failure of a transform. `message` is the code's error message, without values of secrets. */
  | { kind: 'failed'; why: string; message?: string }
  /** There was no capacity for the transform. Nothing is stored, and the provider resends. */
  | { kind: 'busy' }
) & { logs?: CodeLogs };

/** Changes that a transform makes to an event. Fields that are `null` remain unchanged. */
export interface TransformedEvent {
  kind: 'event';
  body: { text: string; isJson: boolean } | null;
  eventType: string | null;
  headers: HeaderChanges | null;
}

/** Header names are in lower case. */
export interface HeaderChanges {
  set: Record<string, string>;
  removed: readonly string[];
}

export interface TransformInput {
  /** Id of the event in the format of the API. */
  eventId: string;
  eventType: string;
  request: ReceivedRequest;
  /** Names of the request's credentials. Their values are hidden in the output of code. */
  credentials: CredentialNames;
  verification: Verification;
}

/** Result for a body that does not match its content encoding, or is larger than one megabyte after decoding. */
export const NOT_UNPACKED: TransformResult = { kind: 'failed', why: "the body can't be unpacked" };

export const TRANSFORMED_BYTES_MAX = 256 * 1024;

@Injectable()
export class UrlTransforms {
  private readonly keyedSemaphore = new KeyedSemaphore();

  constructor(
    private readonly agent: EgressAgent,
    private readonly gate: EgressGate,
    private readonly environments: Environments,
    private readonly clock: Clock,
  ) {}

  /** Sends the event to the transform's URL as a signed POST (Standard Webhooks). The response becomes the new body. */
  async ask({ environmentId, id, transform }: LiveEndpoint, event: TransformInput): Promise<TransformResult> {
    const verdict = this.gate.check(transform?.url ?? '');
    if (!verdict.ok) return { kind: 'failed', why: verdict.reason };
    const timestampSeconds = Math.floor(this.clock.nowMs() / 1000);
    const keys = await this.environments.signingKeys(environmentId);
    const { headers } = event.request;
    const body = unpackedBody(event.request);
    if (body === null) return NOT_UNPACKED;
    const answer = await this.keyedSemaphore.run(
      `${environmentId}:${id}`,
      transform?.timeoutMs ?? TRANSFORM_TIMEOUT_MS.url,
      (timeoutMs) =>
        this.agent.exchange({
          method: 'POST',
          url: verdict.url,
          headers: {
            'content-type': headers.find(([name]) => name === 'content-type')?.[1] ?? 'application/octet-stream',
            'user-agent': USER_AGENT,
            'webhook-id': event.eventId,
            'webhook-timestamp': String(timestampSeconds),
            'webhook-signature': signatureHeader(keys, event.eventId, timestampSeconds, body),
            'posthorn-event-type': event.eventType,
          },
          body,
          timeoutMs,
          bodyBytesMax: TRANSFORMED_BYTES_MAX + 1,
        }),
    );
    if (answer === null) return { kind: 'failed', why: 'timeout' };
    if (answer.kind === 'error') return { kind: 'failed', why: answer.error };
    if (answer.status === 204) return { kind: 'dropped' };
    if (answer.status < 200 || answer.status > 299)
      return { kind: 'failed', why: `the transform answered ${answer.status}` };
    if (answer.truncated || answer.body.length > TRANSFORMED_BYTES_MAX)
      return { kind: 'failed', why: 'the answer is over 256 KB' };
    const text = answer.body.toString();
    return isJson(text)
      ? { kind: 'event', body: { text, isJson: true }, eventType: null, headers: null }
      : { kind: 'failed', why: 'the answer is not JSON' };
  }
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
