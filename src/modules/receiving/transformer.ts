import { Injectable, Logger } from '@nestjs/common';
import { Secrets } from '#modules/secrets/contract.js';
import { Clock } from '#kernel/clock.js';
import { Sandbox } from '#sandbox/sandbox.js';
import { Breaker } from '#modules/endpoints/breaker.js';
import { guestRequest } from './guest-request.js';
import type { LiveEndpoint } from './live-endpoint.js';
import { secretNames } from '#engine/inbound/secret-names.js';
import { TRANSFORM_TIMEOUT_MS } from '#modules/endpoints/timeouts.js';
import { TRANSFORMED_BYTES_MAX, TransformUrls, type Transformed, type Untransformed } from './url-transforms.js';

/** Failures that hold a thread for its whole time, or would come for any event. */
const SICK: ReadonlySet<string> = new Set(['timeout', 'memory', 'crashed', 'invalid_code']);
const EVENT_TYPE = /^[A-Za-z0-9._:/-]{1,256}$/;

/** Runs endpoints' transforms: JavaScript in the sandbox, or a URL that is asked. It never throws: what fails is `failed`. */
@Injectable()
export class Transformer {
  private readonly logger = new Logger(Transformer.name);
  private readonly breaker: Breaker;

  constructor(
    private readonly sandbox: Sandbox,
    private readonly secrets: Secrets,
    private readonly transforms: TransformUrls,
    clock: Clock,
  ) {
    this.breaker = new Breaker(() => clock.nowMs());
  }

  async run(endpoint: LiveEndpoint, event: Untransformed): Promise<Transformed> {
    const { transform } = endpoint;
    if (transform === null) return { kind: 'unchanged' };
    const key = `${endpoint.environmentId}:${endpoint.id}:${endpoint.version}`;
    if (this.breaker.isOpen(key)) return { kind: 'failed', why: 'it failed three times in a row and is left out for half a minute', isSick: true };
    const transformed = await this.attempt(endpoint, event).catch((error: unknown): Transformed => {
      this.logger.warn(`A transform could not be run: ${(error as Error).message}`);
      return { kind: 'busy' };
    });
    if (transformed.kind !== 'busy') this.breaker.count(key, transformed.kind !== 'failed' || !transformed.isSick);
    return transformed;
  }

  private attempt(endpoint: LiveEndpoint, event: Untransformed): Promise<Transformed> {
    return endpoint.transform?.engine === 'url' ? this.transforms.ask(endpoint, event) : this.call(endpoint, event);
  }

  private async call({ environmentId, transform }: LiveEndpoint, event: Untransformed): Promise<Transformed> {
    const code = transform?.code ?? '';
    const values = await this.secrets.resolve(environmentId, secretNames(code));
    const input = { id: event.eventId, event_type: event.eventType, ...guestRequest(event.request, event.verification) };
    const outcome = await this.sandbox.run({
      code,
      args: [JSON.stringify(input), JSON.stringify({ secrets: Object.fromEntries(values) })],
      timeoutMs: transform?.timeoutMs ?? TRANSFORM_TIMEOUT_MS.managed,
      tenantKey: String(environmentId),
      resultBytesMax: TRANSFORMED_BYTES_MAX,
    });
    if (!outcome.ok) return outcome.reason === 'busy' ? { kind: 'busy' } : { kind: 'failed', why: outcome.reason, isSick: SICK.has(outcome.reason) };
    return outcome.json === null ? { kind: 'dropped' } : returned(outcome.json);
  }
}

/** A returned event: its `body` as JSON, or as it is when it is a text; `event_type` when it was changed. */
function returned(json: string): Transformed {
  const event = JSON.parse(json) as unknown;
  if (typeof event !== 'object' || event === null || !('body' in event)) return { kind: 'failed', why: 'what it returned has no body', isSick: false };
  const { body, event_type: eventType } = event as { body: unknown; event_type?: unknown };
  if (eventType !== undefined && (typeof eventType !== 'string' || !EVENT_TYPE.test(eventType))) {
    return { kind: 'failed', why: 'the event_type it returned is none', isSick: false };
  }
  const text = typeof body === 'string' ? Buffer.from(body).toString() : JSON.stringify(body);
  if (text.includes('\0')) return { kind: 'failed', why: 'the body it returned contains U+0000', isSick: false };
  return { kind: 'body', body: text, isJson: typeof body !== 'string', eventType: eventType ?? null };
}
