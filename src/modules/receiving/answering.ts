import { Injectable } from '@nestjs/common';
import { EgressAgent } from '#egress/agent.js';
import { EgressGate } from '#egress/gate.js';
import { RequestView } from '#engine/conditions/request-view.js';
import { challenge } from '#engine/inbound/challenge.js';
import type { ReceivedRequest, SynchronousAnswer, Verification } from '#engine/inbound/request.js';
import { answersEvents, staticAnswer } from '#engine/inbound/response.js';
import { unavailable } from '#kernel/errors.js';
import { HandshakeSecrets } from '#modules/endpoints/sealed-configurations.js';
import type { LiveEndpoint } from './live-endpoint.js';
import { ResponseProxy } from './response-proxy.js';

const CONFIRM_TIMEOUT_MS = 5_000;
const CONFIRM_BYTES_MAX = 16 * 1024;

/** What a provider is answered, in the order of contract section 7: handshake, proxy, rules, response, and else the default. */
@Injectable()
export class Answering {
  constructor(
    private readonly proxy: ResponseProxy,
    private readonly handshakes: HandshakeSecrets,
    private readonly agent: EgressAgent,
    private readonly gate: EgressGate,
  ) {}

  /** The answer to a handshake, after what it asks for is done; null when the request is none. */
  async handshake(
    endpoint: LiveEndpoint, request: ReceivedRequest, verification: Verification, secrets: readonly string[],
  ): Promise<SynchronousAnswer | null> {
    if (endpoint.response === null) return null;
    const handshake = challenge(endpoint.response, request, { verification, hasSecret: secrets.length > 0, secrets });
    if (handshake === null) return null;
    // Stored before it is answered: the provider signs with it from then on. Whoever was first has set it.
    if (handshake.newSecret !== undefined && !(await this.handshakes.begin(endpoint, handshake.newSecret))) {
      return { status: 403, headers: { 'content-type': 'text/plain; charset=utf-8' }, body: 'The endpoint has a secret already.' };
    }
    if (handshake.confirmUrl !== undefined) await this.confirm(handshake.confirmUrl);
    return handshake.answer;
  }

  /** The answer to an event; null for the default, `unavailable` when the endpoint rather answers 502. */
  async answer(
    endpoint: LiveEndpoint, eventId: string, request: ReceivedRequest, verification: Verification,
  ): Promise<SynchronousAnswer | 'unavailable' | null> {
    const proxied = await this.proxy.ask(endpoint, eventId, request, verification);
    if (proxied.kind === 'answer') return proxied.answer;
    if (proxied.kind === 'unavailable') return 'unavailable';
    const ruled = endpoint.rules?.answer(new RequestView(request, verification)) ?? null;
    if (ruled) return ruled;
    return endpoint.response && answersEvents(endpoint.response) ? staticAnswer(endpoint.response) : null;
  }

  /** Throws 503 when it can't be confirmed right now: SNS sends its confirmation again then. */
  private async confirm(url: string): Promise<void> {
    const verdict = this.gate.check(url);
    if (!verdict.ok) return;
    const headers = { 'user-agent': 'Posthorn/0.1' };
    const answer = await this.agent.exchange({
      method: 'GET', url: verdict.url, headers, body: null, timeoutMs: CONFIRM_TIMEOUT_MS, bodyBytesMax: CONFIRM_BYTES_MAX,
    });
    if (answer.kind === 'error' || answer.status >= 300) throw unavailable('The subscription could not be confirmed. Send it again.');
  }
}
