import { Injectable } from '@nestjs/common';
import { eventTypeOf } from '#engine/inbound/classify.js';
import { HOPS_HEADER, HOPS_MAX, hopsOf } from '#engine/inbound/forward.js';
import { headerOf, type ReceivedRequest, type Verification } from '#engine/inbound/request.js';
import { type CredentialNames, joinedNames } from '#engine/inbound/secret-headers.js';
import { unpacked } from '#engine/inbound/unpacked.js';
import { Clock } from '#kernel/clock.js';
import { conflict, unavailable } from '#kernel/errors.js';
import type { IdempotentRequest, StoredAnswer } from '#kernel/idempotency.js';
import { type Id, Ids, showId } from '#kernel/ids.js';
import { Tracing } from '#kernel/observability/tracing.js';
import { Environments } from '#modules/auth/environments/environments.js';
import { AcceptancePolicies } from '#modules/ledger/acceptance-policies.js';
import { TRANSFORM_FAILED } from '#modules/ledger/dropped.contract.js';
import { AcceptReceived, type Decision, UNANSWERED, type VerifiedRequest } from './accepting.js';
import { Answering } from './answering.js';
import { RequestDeduplication } from './deduplication.js';
import { shownIdOf } from './deduplication-key.js';
import { type LiveEndpoint, secretsInForce } from './live-endpoint.js';
import type { PipelineResult } from './pipeline-result.js';
import { received200 } from './received-answer.js';
import { Transformer } from './transformer.js';
import type { TransformResult } from './url-transforms.js';
import { Verifying } from './verifying.js';

/** Result of an endpoint that has no transform and sends the default response. */
const NOTHING_CONFIGURED: [TransformResult, null] = [{ kind: 'unchanged' }, null];

export interface RequestSource {
  /**
   * Set for a replay. A successful verification is reused, no provider waits for a response, and the credentials of the
   * original request stay secret.
   */
  replayOf: { id: Id; verification: Verification; credentials: CredentialNames } | null;
  traceparent: string | undefined;
  /** True if the request may be a duplicate. False for tests and replays, which must always create an event. */
  mayBeDuplicate: boolean;
  /** Idempotency key of the API call that sent the request, and the response to store for this key. */
  idempotency?: {
    request: IdempotentRequest;
    keeps: (eventId: Id, answer: PipelineResult['answer']) => StoredAnswer;
  } | null;
}

/**
 * Processes a request in this order: verify, handshake, detect duplicates, transform, route, store, respond. The
 * response is sent only after the commit. After a crash before the commit, nothing is stored and the provider resends.
 */
@Injectable()
export class Pipeline {
  constructor(
    private readonly verifying: Verifying,
    private readonly answering: Answering,
    private readonly transformer: Transformer,
    private readonly acceptReceived: AcceptReceived,
    private readonly deduplication: RequestDeduplication,
    private readonly environments: Environments,
    private readonly ids: Ids,
    private readonly clock: Clock,
    private readonly tracing: Tracing,
    private readonly acceptancePolicies: AcceptancePolicies,
  ) {}

  /**
   * Processes a request and returns the result. Throws 409 for a forwarding loop, 422 if a policy refuses, and 503 if
   * the database is unavailable.
   */
  async run(
    endpoint: LiveEndpoint,
    request: ReceivedRequest,
    { replayOf, traceparent, mayBeDuplicate, idempotency = null }: RequestSource,
  ): Promise<PipelineResult> {
    if (hopsOf(headerOf(request, HOPS_HEADER)) >= HOPS_MAX) {
      throw conflict(`This request has passed through here ${HOPS_MAX} times: endpoints and destinations form a loop.`);
    }
    const secrets = secretsInForce(endpoint, this.clock.nowMs());
    const { verification, reason } = await this.verifying.verify(endpoint, request, secrets, replayOf?.verification);
    if (replayOf === null) {
      const handshake = this.answering.handshake(endpoint, request, verification, secrets);
      if (handshake) return { eventId: null, answer: await handshake, isDuplicate: false };
    }
    const eventType = eventTypeOf(endpoint.preset, unpacked(request));
    const span = this.tracing.startAccept(traceparent, eventType);
    const verified: VerifiedRequest = {
      id: this.ids.next(),
      request,
      verification,
      reason,
      eventType,
      traceparent: span.traceparent,
      replayOf: replayOf?.id ?? null,
      credentials: replayOf === null ? endpoint.credentials : joinedNames(endpoint.credentials, replayOf.credentials),
      idempotency,
      dedupeId: shownIdOf(endpoint, request, verification),
    };
    const result = await span.during(this.decide(endpoint, verified, mayBeDuplicate));
    span.end(result.isDuplicate ? 'duplicate' : 'accepted', () => ({
      'messaging.message.id': showId('evt', result.eventId ?? verified.id),
      'posthorn.endpoint.id': showId('ep', endpoint.id),
    }));
    return result;
  }

  /**
   * Stores the request unless it is a duplicate. A request whose verification failed is always stored, and does not
   * reserve its deduplication id.
   */
  private async decide(
    endpoint: LiveEndpoint,
    verified: VerifiedRequest,
    mayBeDuplicate: boolean,
  ): Promise<PipelineResult> {
    const { dedupeId, verification } = verified;
    const checksDuplicate = mayBeDuplicate && endpoint.deduplication !== null && verification !== 'failed';
    if (checksDuplicate && dedupeId !== null)
      return this.deduplication.once(endpoint, dedupeId, verified, () => this.store(endpoint, verified));
    const answer = await this.store(endpoint, verified);
    return { eventId: answer === 'unavailable' ? null : verified.id, answer, isDuplicate: false };
  }

  private async ruled(
    { environmentId, id }: LiveEndpoint,
    { request, eventType }: VerifiedRequest,
  ): Promise<Record<string, string> | null> {
    const { organizationId, mode } = await this.environments.get(environmentId);
    const tenant = { environmentId, organizationId, mode };
    return this.acceptancePolicies.rule({
      kind: 'receipt',
      tenant,
      to: showId('ep', id),
      eventType,
      headers: Object.fromEntries(request.headers),
      payload: request.body,
    });
  }

  private async store(endpoint: LiveEndpoint, verified: VerifiedRequest): Promise<PipelineResult['answer']> {
    const { request, credentials, verification, id, eventType } = verified;
    if (verification === 'failed') {
      return this.acceptReceived.accept(
        endpoint,
        verified,
        { disposition: 'quarantined', note: `The signature is invalid: ${verified.reason}.`, transformed: null },
        'refused',
      );
    }
    if (this.acceptancePolicies.isRuled) verified.addedHeaders = await this.ruled(endpoint, verified);
    const received = received200(id);
    if (endpoint.status !== 'active') {
      return this.acceptReceived.accept(
        endpoint,
        verified,
        { disposition: 'parked', note: `The endpoint is ${endpoint.status}.`, transformed: null },
        received,
      );
    }
    const shownId = showId('evt', id);
    const { organizationId } = endpoint;
    const isAnswered = verified.replayOf === null && this.answering.isConfigured(endpoint);
    const [transformed, answer] =
      endpoint.transform === null && !isAnswered
        ? NOTHING_CONFIGURED
        : await Promise.all([
            this.transformer.run(endpoint, { eventId: shownId, eventType, request, credentials, verification }),
            isAnswered ? this.answering.answer(endpoint, shownId, { request, verification, organizationId }) : null,
          ]);
    if (transformed.kind === 'busy')
      throw unavailable('Too many transforms are running. Nothing was accepted, send it again.');
    if (answer === 'unavailable') return answer;
    if (answer === 'undecided')
      return this.acceptReceived.accept(endpoint, verified, UNANSWERED, received200(id, UNANSWERED.note));
    return this.acceptReceived.accept(endpoint, verified, decisionOf(endpoint, transformed), answer ?? received);
  }
}

function decisionOf({ transform }: LiveEndpoint, transformed: Exclude<TransformResult, { kind: 'busy' }>): Decision {
  const { logs = null } = transformed;
  switch (transformed.kind) {
    case 'unchanged':
      return { disposition: null, note: null, transformed: null };
    case 'event':
      return { disposition: null, note: 'transformed', transformed, logs };
    case 'dropped':
      return { disposition: 'dropped', note: 'The transform dropped it.', transformed: null, logs };
    case 'failed': {
      const { why, message } = transformed;
      const reason = message === undefined ? why : `${why}: ${message.replace(/\.$/, '')}`;
      const note = `${TRANSFORM_FAILED}${reason}.`.slice(0, 500);
      return transform?.failMode === 'open'
        ? { disposition: null, note: `${note} It was delivered untransformed.`, transformed: null, logs }
        : { disposition: 'parked', note, transformed: null, logs };
    }
  }
}
