import { Injectable } from '@nestjs/common';
import { EgressAgent } from '#egress/agent.js';
import { EgressGate } from '#egress/gate.js';
import { RequestView } from '#engine/conditions/request-view.js';
import type { CompiledRules } from '#engine/conditions/rules.js';
import { challenge, urlCheck } from '#engine/inbound/challenge.js';
import type { ReceivedRequest, SynchronousAnswer, Verification } from '#engine/inbound/request.js';
import { answersEvents, staticAnswer } from '#engine/inbound/response.js';
import { unavailable } from '#kernel/errors.js';
import type { Id } from '#kernel/ids.js';
import { USER_AGENT } from '#kernel/version.js';
import { EndpointConfigurations } from '#modules/endpoints/contract.js';
import { RuleEvaluator } from '#sandbox/rule-evaluator.js';
import type { LiveEndpoint } from './live-endpoint.js';
import { ResponseProxy } from './response-proxy.js';

/** A request that is to be answered, and whose endpoint it came to. */
export interface Asked {
  request: ReceivedRequest;
  verification: Verification;
  organizationId: Id;
}

const CONFIRM_TIMEOUT_MS = 5_000;
const CONFIRM_BYTES_MAX = 16 * 1024;

/** What a provider is answered, in the order of contract section 7: handshake, proxy, rules, response, and else the default. */
@Injectable()
export class Answering {
  constructor(
    private readonly proxy: ResponseProxy,
    private readonly configurations: EndpointConfigurations,
    private readonly agent: EgressAgent,
    private readonly gate: EgressGate,
    private readonly rules: RuleEvaluator,
  ) {}

  /** The answer to a handshake, after what it asks for is done; null when the request is none. */
  async handshake(
    endpoint: LiveEndpoint,
    request: ReceivedRequest,
    verification: Verification,
    secrets: readonly string[],
  ): Promise<SynchronousAnswer | null> {
    const checked = urlCheck(endpoint.preset, request);
    if (checked !== null || endpoint.response === null) return checked;
    const handshake = challenge(endpoint.response, request, { verification, hasSecret: secrets.length > 0, secrets });
    if (handshake === null) return null;
    // Stored before it is answered: the provider signs with it from then on. Whoever was first has set it.
    if (
      handshake.newSecret !== undefined &&
      !(await this.configurations.setFirstSecret(endpoint.environmentId, endpoint.id, handshake.newSecret))
    ) {
      return {
        status: 403,
        headers: { 'content-type': 'text/plain; charset=utf-8', 'x-content-type-options': 'nosniff' },
        body: 'This endpoint has a secret already.',
      };
    }
    if (handshake.confirmUrl !== undefined) await this.confirm(handshake.confirmUrl);
    return handshake.answer;
  }

  /**
   * The answer to an event; null for the default, `unavailable` when the endpoint rather answers 502, `undecided` when its
   * rules took too long. Throws 503 when there is no room for rules that take long.
   */
  async answer(
    endpoint: LiveEndpoint,
    eventId: string,
    { request, verification, organizationId }: Asked,
  ): Promise<SynchronousAnswer | 'unavailable' | 'undecided' | null> {
    const proxied = await this.proxy.ask(endpoint, eventId, request, verification);
    if (proxied.kind === 'answer') return proxied.answer;
    if (proxied.kind === 'unavailable') return 'unavailable';
    const ruled =
      endpoint.rules && (await this.ruled(endpoint.rules, endpoint.id, { request, verification, organizationId }));
    if (ruled === 'undecided') return ruled;
    if (ruled?.answer) return ruled.answer;
    return endpoint.response && answersEvents(endpoint.response) ? staticAnswer(endpoint.response) : null;
  }

  /** What rules say: the place of the first that matches (-1 for none) and the answer. Rules that need more work than a moment's are looked at on a thread. */
  async ruled(
    rules: CompiledRules,
    endpoint: Id,
    { request, verification, organizationId }: Asked,
  ): Promise<{ place: number; answer: SynchronousAnswer | null } | 'undecided'> {
    const view = new RequestView(request, verification);
    const first = rules.first(view);
    const place =
      first < 0 && view.isExhausted
        ? await this.rules.first({ organization: organizationId, endpoint }, rules, view)
        : first;
    return place === null ? 'undecided' : { place, answer: rules.answer(place, view.fresh()) };
  }

  /** Throws 503 when it can't be confirmed right now: SNS sends its confirmation again then. */
  private async confirm(url: string): Promise<void> {
    const verdict = this.gate.check(url);
    if (!verdict.ok) return;
    const headers = { 'user-agent': USER_AGENT };
    const answer = await this.agent.exchange({
      method: 'GET',
      url: verdict.url,
      headers,
      body: null,
      timeoutMs: CONFIRM_TIMEOUT_MS,
      bodyBytesMax: CONFIRM_BYTES_MAX,
    });
    if (answer.kind === 'error' || answer.status >= 300)
      throw unavailable('The subscription could not be confirmed. Send it again.');
  }
}
