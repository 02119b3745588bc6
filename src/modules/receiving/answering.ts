import { Injectable } from '@nestjs/common';
import { EgressAgent } from '#egress/agent.js';
import { EgressGate } from '#egress/gate.js';
import { RequestView } from '#engine/conditions/request-view.js';
import type { CompiledRules } from '#engine/conditions/rules.js';
import { challenge, type Handshake, urlCheck } from '#engine/inbound/challenge.js';
import type { ReceivedRequest, SynchronousAnswer, Verification } from '#engine/inbound/request.js';
import { answersEvents, staticAnswer } from '#engine/inbound/response.js';
import { unavailable } from '#kernel/errors.js';
import type { Id } from '#kernel/ids.js';
import { USER_AGENT } from '#kernel/version.js';
import { EndpointConfigurations } from '#modules/endpoints/endpoint-configurations.js';
import { RuleEvaluator } from '#sandbox/rule-evaluator.js';
import type { LiveEndpoint } from './live-endpoint.js';
import { ResponseProxy } from './response-proxy.js';

export interface Asked {
  request: ReceivedRequest;
  verification: Verification;
  organizationId: Id;
}

const CONFIRM_TIMEOUT_MS = 5_000;
const CONFIRM_BYTES_MAX = 16 * 1024;

/**
 * Produces the response for a provider. Tries, in this order: handshake, proxy, rules, configured response, default
 * response.
 */
@Injectable()
export class Answering {
  constructor(
    private readonly proxy: ResponseProxy,
    private readonly configurations: EndpointConfigurations,
    private readonly agent: EgressAgent,
    private readonly gate: EgressGate,
    private readonly rules: RuleEvaluator,
  ) {}

  /** Performs the action of a handshake and returns its response. Returns `null` if the request is not a handshake. */
  handshake(
    endpoint: LiveEndpoint,
    request: ReceivedRequest,
    verification: Verification,
    secrets: readonly string[],
  ): SynchronousAnswer | null | Promise<SynchronousAnswer> {
    const checked = urlCheck(endpoint.preset, request);
    if (checked !== null || endpoint.response === null) return checked;
    const handshake = challenge(endpoint.response, request, { verification, hasSecret: secrets.length > 0, secrets });
    return handshake && this.perform(endpoint, handshake);
  }

  private async perform(endpoint: LiveEndpoint, handshake: Handshake): Promise<SynchronousAnswer> {
    // Stores the new secret before the response is sent, because the provider uses it as soon as it gets the response.
    // Only the first handshake can set a secret.
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

  /** Returns whether `answer` may return another response than the default one. */
  isConfigured({ responseProxy, rules, response }: LiveEndpoint): boolean {
    return responseProxy !== null || rules !== null || (response !== null && answersEvents(response));
  }

  /**
   * Returns the response: `null` for the default one, `unavailable` if the endpoint is configured to respond with 502,
   * and `undecided` if its rules exceeded their time limit. Throws 503 if there is no capacity for slow rules.
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

  /**
   * Evaluates the rules. Rules that are too slow for the main thread are evaluated again on a worker thread. `place` is
   * the index of the matching rule, or -1 if none matches.
   */
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

  /** Confirms an SNS subscription. Throws 503 if it cannot be confirmed now, so that SNS repeats its request. */
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
