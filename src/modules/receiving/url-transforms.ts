import { Injectable } from '@nestjs/common';
import { EgressAgent } from '#egress/agent.js';
import { EgressGate } from '#egress/gate.js';
import type { ReceivedRequest, Verification } from '#engine/inbound/request.js';
import { unpackedBody } from '#engine/inbound/unpacked.js';
import { signatureHeader } from '#engine/signing.js';
import { Clock } from '#kernel/clock.js';
import { KeyedSemaphore } from '#kernel/concurrency/keyed-semaphore.js';
import { USER_AGENT } from '#kernel/version.js';
import { Environments } from '#modules/auth/contract.js';
import { TRANSFORM_TIMEOUT_MS } from '#modules/endpoints/contract.js';
import type { LiveEndpoint } from './live-endpoint.js';

/** What a transform made of an event. */
export type TransformResult =
  | { kind: 'unchanged' }
  | TransformedEvent
  | { kind: 'dropped' }
  /** `message` is what the code said of it, with the values of secrets that it was given. */
  | { kind: 'failed'; why: string; message?: string }
  /** There was no room for it: nothing is stored, and the provider sends again. */
  | { kind: 'busy' };

/** An event as a transform returned it: what is null stays as it came. */
export interface TransformedEvent {
  kind: 'event';
  body: { text: string; isJson: boolean } | null;
  eventType: string | null;
  headers: HeaderChanges | null;
}

/** Names in lower case. */
export interface HeaderChanges {
  set: Record<string, string>;
  removed: readonly string[];
}

/** What the transform is told of the event. */
export interface TransformInput {
  /** In its wire form. */
  eventId: string;
  eventType: string;
  request: ReceivedRequest;
  verification: Verification;
}

/** Of a body whose content encoding is not what it says, or hides more than a megabyte. */
export const NOT_UNPACKED: TransformResult = { kind: 'failed', why: "the body can't be unpacked" };

/** A transform makes no larger body. */
export const TRANSFORMED_BYTES_MAX = 256 * 1024;

/** Transforms that are a URL. */
@Injectable()
export class UrlTransforms {
  private readonly keyedSemaphore = new KeyedSemaphore();

  constructor(
    private readonly agent: EgressAgent,
    private readonly gate: EgressGate,
    private readonly environments: Environments,
    private readonly clock: Clock,
  ) {}

  /** A signed POST (Standard Webhooks, with the environment's signing secret); its JSON answer is the body from now on. */
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
