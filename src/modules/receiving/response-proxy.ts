import { Injectable } from '@nestjs/common';
import { EgressAgent } from '#egress/agent.js';
import { EgressGate } from '#egress/gate.js';
import { withReplaced } from '#engine/inbound/query.js';
import type { ReceivedRequest, SynchronousAnswer, Verification } from '#engine/inbound/request.js';
import { answerHeaderFaults } from '#engine/inbound/response.js';
import { unpacked } from '#engine/inbound/unpacked.js';
import { signatureHeader } from '#engine/signing.js';
import { Clock } from '#kernel/clock.js';
import { KeyedSemaphore } from '#kernel/concurrency/keyed-semaphore.js';
import { HIDDEN } from '#kernel/crypto/sensitive-headers.js';
import { USER_AGENT } from '#kernel/version.js';
import { Environments } from '#modules/auth/environments/environments.js';
import { PROXY_TIMEOUT_MS } from '#modules/endpoints/contract.js';
import { Sandbox } from '#sandbox/sandbox.js';
import { CODE_BODY_BYTES_MAX, CODE_INPUT_BYTES_MAX, guestRequest } from './guest-request.js';
import type { LiveEndpoint } from './live-endpoint.js';

export type ProxyResult =
  { kind: 'answer'; answer: SynchronousAnswer } | { kind: 'fallback' } | { kind: 'unavailable' };

const BODY_BYTES_MAX = 64 * 1024;
/** Headers that are passed on to the provider from the response of the proxy's URL. */
const PASSED_HEADERS = ['content-type', 'location', 'retry-after'];

/**
 * Gets the synchronous response from an endpoint's proxy, which is JavaScript in the sandbox or a URL. Never throws.
 */
@Injectable()
export class ResponseProxy {
  private readonly keyedSemaphore = new KeyedSemaphore();

  constructor(
    private readonly sandbox: Sandbox,
    private readonly agent: EgressAgent,
    private readonly gate: EgressGate,
    private readonly environments: Environments,
    private readonly clock: Clock,
  ) {}

  async ask(
    endpoint: LiveEndpoint,
    eventId: string,
    request: ReceivedRequest,
    verification: Verification,
  ): Promise<ProxyResult> {
    const { responseProxy: settings } = endpoint;
    if (settings === null) return { kind: 'fallback' };
    const answer = await (
      settings.target === 'url' ? this.call(endpoint, eventId, request) : this.evaluate(endpoint, request, verification)
    ).catch(() => null);
    return answer === null ? missing(endpoint) : { kind: 'answer', answer };
  }

  private async evaluate(
    endpoint: LiveEndpoint,
    request: ReceivedRequest,
    verification: Verification,
  ): Promise<SynchronousAnswer | null> {
    const { responseProxy: settings, organizationId, id } = endpoint;
    const seen = unpacked(request);
    if (seen.body.length > CODE_BODY_BYTES_MAX) return null;
    const code = settings?.code ?? '';
    const outcome = await this.sandbox.run({
      code,
      args: [JSON.stringify(guestRequest(seen, verification, code))],
      timeoutMs: settings?.timeoutMs ?? PROXY_TIMEOUT_MS.managed,
      organization: organizationId,
      endpoint: id,
      inputBytesMax: CODE_INPUT_BYTES_MAX,
      resultBytesMax: 2 * BODY_BYTES_MAX,
    });
    return outcome.ok && outcome.json !== null ? answered(JSON.parse(outcome.json) as unknown) : null;
  }

  /** Sends the original request to the proxy's URL, signed by Posthorn. Returns the response, or `null` if it fails. */
  private async call(
    endpoint: LiveEndpoint,
    eventId: string,
    request: ReceivedRequest,
  ): Promise<SynchronousAnswer | null> {
    const { responseProxy: settings, environmentId } = endpoint;
    const verdict = this.gate.check(settings?.url ?? '');
    if (!verdict.ok) return null;
    const { body } = unpacked(request);
    const timestampSeconds = Math.floor(this.clock.nowMs() / 1000);
    const keys = await this.environments.signingKeys(environmentId);
    const answer = await this.keyedSemaphore.run(
      `${environmentId}:${endpoint.id}`,
      settings?.timeoutMs ?? PROXY_TIMEOUT_MS.url,
      (timeoutMs) =>
        this.agent.exchange({
          method: 'POST',
          url: verdict.url,
          headers: {
            'content-type':
              request.headers.find(([name]) => name === 'content-type')?.[1] ?? 'application/octet-stream',
            'user-agent': USER_AGENT,
            'webhook-id': eventId,
            'webhook-timestamp': String(timestampSeconds),
            'webhook-signature': signatureHeader(keys, eventId, timestampSeconds, body),
            'posthorn-method': request.method,
            'posthorn-query': withReplaced(request, endpoint.credentials.parameters, () => HIDDEN).query,
          },
          body,
          timeoutMs,
          bodyBytesMax: BODY_BYTES_MAX,
        }),
    );
    if (answer === null) return null;
    if (answer.kind === 'error' || answer.truncated || answer.status < 200 || answer.status >= 500) return null;
    const headers = Object.fromEntries(
      Object.entries(answer.headers).filter(([name]) => PASSED_HEADERS.includes(name)),
    );
    return { status: answer.status, headers, body: answer.body.toString() };
  }
}

function missing({ responseProxy }: LiveEndpoint): ProxyResult {
  return { kind: responseProxy?.onUnavailable === 'error' ? 'unavailable' : 'fallback' };
}

/** Returns the response, or `null` if the code's response is invalid. A body that is not text is sent as JSON. */
function answered(value: unknown): SynchronousAnswer | null {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return null;
  const { status = 200, headers = {}, body = '' } = value as { status?: unknown; headers?: unknown; body?: unknown };
  if (typeof status !== 'number' || !Number.isInteger(status) || status < 200 || status > 599) return null;
  if (answerHeaderFaults(headers, 'headers').length > 0) return null;
  const named = Object.fromEntries(
    Object.entries(headers as Record<string, string>).map(([name, text]) => [name.toLowerCase(), text]),
  );
  const isText = typeof body === 'string';
  const text = isText ? body : JSON.stringify(body);
  if (Buffer.byteLength(text) > BODY_BYTES_MAX) return null;
  return {
    status,
    headers: { 'content-type': isText ? 'text/plain; charset=utf-8' : 'application/json', ...named },
    body: text,
  };
}
