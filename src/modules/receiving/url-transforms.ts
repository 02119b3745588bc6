import { Injectable } from '@nestjs/common';
import { Environments } from '#modules/auth/contract.js';
import { EgressAgent } from '#egress/agent.js';
import { EgressGate } from '#egress/gate.js';
import type { ReceivedRequest, Verification } from '#engine/inbound/request.js';
import { signatureHeader } from '#engine/signing.js';
import { Clock } from '#kernel/clock.js';
import type { LiveEndpoint } from './live-endpoint.js';
import { TRANSFORM_TIMEOUT_MS } from '#modules/endpoints/timeouts.js';

/** What a transform made of an event. */
export type Transformed =
  | { kind: 'unchanged' }
  | { kind: 'body'; body: string; isJson: boolean; eventType: string | null }
  | { kind: 'dropped' }
  /** `isSick`: it would fail for any event, as far as can be told. What one payload brings about says nothing of the next. */
  | { kind: 'failed'; why: string; isSick: boolean }
  /** There was no room for it: nothing is stored, and the provider sends again. */
  | { kind: 'busy' };

/** What the transform is told of the event. */
export interface Untransformed {
  /** In its wire form. */
  eventId: string;
  eventType: string;
  request: ReceivedRequest;
  verification: Verification;
}

/** A transform makes no larger body. */
export const TRANSFORMED_BYTES_MAX = 256 * 1024;

/** Transforms that are a URL. */
@Injectable()
export class TransformUrls {
  constructor(
    private readonly agent: EgressAgent,
    private readonly gate: EgressGate,
    private readonly environments: Environments,
    private readonly clock: Clock,
  ) {}

  /** A signed POST (Standard Webhooks, with the environment's signing secret); its JSON answer is the body from now on. */
  async ask({ environmentId, transform }: LiveEndpoint, event: Untransformed): Promise<Transformed> {
    const verdict = this.gate.check(transform?.url ?? '');
    if (!verdict.ok) return { kind: 'failed', why: verdict.reason, isSick: true };
    const timestampSeconds = Math.floor(this.clock.nowMs() / 1000);
    const keys = await this.environments.signingKeys(environmentId);
    const { headers, body } = event.request;
    const answer = await this.agent.exchange({
      method: 'POST',
      url: verdict.url,
      headers: {
        'content-type': headers.find(([name]) => name === 'content-type')?.[1] ?? 'application/octet-stream',
        'user-agent': 'Posthorn/0.1',
        'webhook-id': event.eventId,
        'webhook-timestamp': String(timestampSeconds),
        'webhook-signature': signatureHeader(keys, event.eventId, timestampSeconds, body),
        'posthorn-event-type': event.eventType,
      },
      body,
      timeoutMs: transform?.timeoutMs ?? TRANSFORM_TIMEOUT_MS.url,
      bodyBytesMax: TRANSFORMED_BYTES_MAX + 1,
    });
    if (answer.kind === 'error') return { kind: 'failed', why: answer.error, isSick: true };
    if (answer.status === 204) return { kind: 'dropped' };
    if (answer.status < 200 || answer.status > 299) return { kind: 'failed', why: `the transform answered ${answer.status}`, isSick: answer.status >= 500 };
    if (answer.truncated || answer.body.length > TRANSFORMED_BYTES_MAX) return { kind: 'failed', why: 'the answer is over 256 KB', isSick: false };
    const text = answer.body.toString();
    return isJson(text) ? { kind: 'body', body: text, isJson: true, eventType: null } : { kind: 'failed', why: 'the answer is not JSON', isSick: false };
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
