import { Injectable } from '@nestjs/common';
import type { CustomFetch } from 'openid-client';
import { EgressAgent } from '#egress/agent.js';
import { EgressGate } from '#egress/gate.js';

const TIMEOUT_MS = 10_000;
const BYTES_MAX = 1_048_576;

/** Error: the provider does not respond, or connections to it are not permitted. */
export class ProviderAway extends Error {}

/**
 * Sends the HTTP requests of the OpenID Connect client. Applies the address checks of outbound requests. Does not
 * follow redirects.
 */
@Injectable()
export class ProviderFetch {
  constructor(
    private readonly agent: EgressAgent,
    private readonly gate: EgressGate,
  ) {}

  /** A `fetch` with the features that the OpenID Connect client needs. Throws `ProviderAway`. */
  readonly fetch: CustomFetch = async (url, { method, headers, body, signal }) => {
    const verdict = this.gate.check(String(url));
    if (!verdict.ok)
      throw new ProviderAway(`connections to ${new URL(url).origin} are not permitted: ${verdict.reason}`);
    const answer = await this.agent.exchange({
      method,
      url: verdict.url,
      headers: { ...headers },
      body: bytesOf(body),
      timeoutMs: TIMEOUT_MS,
      bodyBytesMax: BYTES_MAX,
      ...(signal && { signal }),
    });
    if (answer.kind === 'error') throw new ProviderAway(`${verdict.url.origin} does not answer: ${answer.detail}`);
    if (answer.status >= 500) throw new ProviderAway(`${verdict.url.origin} answered ${answer.status}.`);
    const hasBody = answer.status !== 204 && answer.status !== 304;
    return new Response(hasBody ? new Uint8Array(answer.body) : null, {
      status: answer.status,
      headers: answer.headers,
    });
  };
}

/** Returns the body of a request. The OpenID Connect client sends form data, never streams. */
function bytesOf(body: Parameters<CustomFetch>[1]['body']): string | null {
  if (body === null || body === undefined) return null;
  if (typeof body === 'string' || body instanceof URLSearchParams) return String(body);
  throw new Error('The OpenID Connect client sends an unsupported type of body.');
}
