import { Injectable } from '@nestjs/common';
import { compileFilter, type Condition } from '#engine/conditions/condition.js';
import { RequestView } from '#engine/conditions/request-view.js';
import { type CompiledRules, compileRules } from '#engine/conditions/rules.js';
import { eventTypeOf } from '#engine/inbound/classify.js';
import { withReplaced } from '#engine/inbound/query.js';
import type { ReceivedRequest, SynchronousAnswer } from '#engine/inbound/request.js';
import { type CredentialNames, joinedNames } from '#engine/inbound/secret-headers.js';
import { unpacked } from '#engine/inbound/unpacked.js';
import { Clock } from '#kernel/clock.js';
import { HIDDEN } from '#kernel/crypto/sensitive-headers.js';
import { conflict, type Fault, invalid, noSuch, unavailable } from '#kernel/errors.js';
import { type Id, idTimeMs, showId } from '#kernel/ids.js';
import type { Tenant } from '#kernel/tenant.js';
import { hostFaults, type TransformSettings } from '#modules/endpoints/contract.js';
import { type RequestDetail } from '#modules/events/requests.contract.js';
import { RequestsStore } from '#modules/events/requests.store.js';
import { RuleEvaluator } from '#sandbox/rule-evaluator.js';
import { Answering } from './answering.js';
import { type LiveEndpoint, secretsInForce } from './live-endpoint.js';
import { LiveEndpoints } from './live-endpoints.js';
import { Transformer } from './transformer.js';
import type { TransformResult } from './url-transforms.js';
import { type VerificationVerdict, Verifying } from './verifying.js';

/** Settings to try instead of the endpoint's own. Omitted settings are taken from the endpoint. */
export interface TrialDraft {
  transform?: TransformSettings | null;
  routes?: readonly { destination: string | null; filter: Record<string, unknown> | null }[];
  responseRules?: object | null;
}

export interface Tried {
  verdict: VerificationVerdict;
  eventType: string;
  transformed: Exclude<TransformResult, { kind: 'busy' }>;
  /** True if an event is delivered unchanged when its transform fails. */
  failsOpen: boolean;
  /** `matches` is null if the filter exceeded its time limit. */
  routes: readonly { destination: string | null; matches: boolean | null }[];
  /**
   * `place` is the index of the rule that matched, or -1 for the default response. `null` without rules, `undecided` if
   * they exceeded their time limit.
   */
  ruled: { place: number; answer: SynchronousAnswer | null } | 'undecided' | null;
}

interface Compiled {
  transform: TransformSettings | null;
  routes: readonly { destination: string | null; filter: Condition | null }[];
  rules: CompiledRules | null;
}

/** A stored request and the result of its verification. */
interface GivenRequest {
  id: Id;
  /** The stored request, without the values of its credentials. */
  request: ReceivedRequest;
  credentials: CredentialNames;
  verdict: VerificationVerdict;
}

@Injectable()
export class Trial {
  constructor(
    private readonly endpoints: LiveEndpoints,
    private readonly requests: RequestsStore,
    private readonly verifying: Verifying,
    private readonly transformer: Transformer,
    private readonly rules: RuleEvaluator,
    private readonly answering: Answering,
    private readonly clock: Clock,
  ) {}

  /**
   * Applies draft settings to a stored request and returns the results.
   *
   * Users see these results. Code therefore gets the names of secrets instead of values, and neither code nor filters
   * see authentication headers. Throws 404, 409 (erased request), 422 (invalid settings) and 503 (no capacity).
   */
  async run(tenant: Tenant, endpointId: Id, requestId: Id, draft: TrialDraft): Promise<Tried> {
    const endpoint = await this.endpoints.get(tenant.environmentId, endpointId);
    if (endpoint === null) throw noSuch('endpoint');
    const stored = await this.requests.find(tenant.environmentId, requestId);
    if (stored === null || stored.endpointId !== endpointId) throw noSuch('request');
    if (stored.erasedAt !== null)
      throw conflict('The request was erased: there is nothing to try.', { reason: 'erased' });
    if (stored.status === 'too_large')
      throw conflict('The body was too large and was not stored, so there is nothing to try.', { reason: 'too_large' });
    const compiled = compile(endpoint, draft);
    const given = receivedOf(stored);
    const verdict = await this.verifying.verify(
      endpoint,
      given,
      secretsInForce(endpoint, this.clock.nowMs()),
      stored.verification,
    );
    const credentials = joinedNames(endpoint.credentials, stored.credentials);
    const request = withoutCredentials(given, credentials);
    return this.through(endpoint, compiled, { id: stored.id, request, credentials, verdict });
  }

  private async through(
    endpoint: LiveEndpoint,
    { transform, routes, rules }: Compiled,
    { id, request, credentials, verdict }: GivenRequest,
  ): Promise<Tried> {
    const { verification } = verdict;
    const { organizationId } = endpoint;
    const eventType = eventTypeOf(endpoint.preset, unpacked(request));
    const transformed = await this.transformer.run(
      { ...endpoint, transform },
      { eventId: showId('evt', id), eventType, request, credentials, verification },
      { secrets: 'names' },
    );
    if (transformed.kind === 'busy') throw unavailable('Too many transforms are running. Try again in a moment.');
    const body = transformed.kind === 'event' ? transformed.body : null;
    const view =
      body === null
        ? new RequestView(request, verification)
        : new RequestView({ ...request, body: Buffer.from(body.text) }, verification, { isUnpacked: true });
    const matches = await this.rules.matches(
      () => ({ organization: organizationId, endpoint: endpoint.id }),
      routes.map(({ filter }) => filter),
      view,
    );
    const ruled = rules && (await this.answering.ruled(rules, endpoint.id, { request, verification, organizationId }));
    return {
      verdict,
      transformed,
      ruled,
      failsOpen: transform?.failMode === 'open',
      eventType: (transformed.kind === 'event' ? transformed.eventType : null) ?? eventType,
      routes: routes.map(({ destination }, at) => ({ destination, matches: matches[at] ?? null })),
    };
  }
}

function compile(endpoint: LiveEndpoint, { transform, routes, responseRules }: TrialDraft): Compiled {
  const faults: Fault[] = transform ? hostFaults(transform, transform.engine, 'transform') : [];
  const filters = routes?.map(({ filter }, at) => filter && compileFilter(filter, `routes.${at}.filter`));
  for (const filter of filters ?? []) if (filter && 'faults' in filter) faults.push(...filter.faults);
  const rules = responseRules && compileRules(responseRules, 'responseRules');
  if (rules && 'faults' in rules) faults.push(...rules.faults);
  if (faults.length > 0) throw invalid(faults);
  const compiledRules = rules && 'rules' in rules ? rules.rules : null;
  return {
    transform: transform === undefined ? endpoint.transform : transform,
    rules: responseRules === undefined ? endpoint.rules : compiledRules,
    routes:
      routes?.map(({ destination }, at) => {
        const filter = filters?.[at] ?? null;
        return { destination, filter: filter && 'condition' in filter ? filter.condition : null };
      }) ?? endpoint.routes.map(({ destinationId, filter }) => ({ destination: showId('dst', destinationId), filter })),
  };
}

/**
 * Returns the request as received. A replay gets the time of the original request, because the signature was created
 * then.
 */
function receivedOf({ id, method, path, query, headers, body, url, ip, replayOf }: RequestDetail): ReceivedRequest {
  return { method, path, query, headers, body, url, ip, receivedAtMs: idTimeMs(replayOf ?? id) };
}

function withoutCredentials(request: ReceivedRequest, { headers, parameters }: CredentialNames): ReceivedRequest {
  const isHidden = (name: string): boolean => headers.has(name.replaceAll('_', '-'));
  return {
    ...withReplaced(request, parameters, () => HIDDEN),
    headers: request.headers.map(([name, value]) => [name, isHidden(name) ? HIDDEN : value]),
  };
}
