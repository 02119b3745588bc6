import { Injectable, Logger } from '@nestjs/common';
import { RequestView } from '#engine/conditions/request-view.js';
import type { Disposition } from '#engine/inbound/disposition.js';
import { forwardedFrom, HOPS_HEADER, hopsOf } from '#engine/inbound/forward.js';
import { headerOf, type ReceivedRequest, type SynchronousAnswer, type Verification } from '#engine/inbound/request.js';
import { secretHeaders } from '#engine/inbound/secret-headers.js';
import { sealHeaders, type StoredHeader } from '#kernel/crypto/sealed-headers.js';
import { Vault } from '#kernel/crypto/vault.js';
import type { IdempotentRequest, StoredAnswer } from '#kernel/idempotency.js';
import { type Id, showId } from '#kernel/ids.js';
import { Environments } from '#modules/auth/environments/environments.js';
import { Retention } from '#modules/auth/environments/retention.js';
import { type Arrival, type NewRequest } from '#modules/ledger/accept.contract.js';
import { Deduplication } from '#modules/ledger/deduplication.js';
import { Ledger } from '#modules/ledger/ledger.js';
import type { LiveEndpoint } from './live-endpoint.js';
import { keptAnswer, parkedAnswer } from './received-answer.js';
import { Routing } from './routing.js';
import type { TransformedEvent } from './url-transforms.js';

/** A request after its verification, and the event that it becomes. */
export interface VerifiedRequest {
  id: Id;
  request: ReceivedRequest;
  verification: Verification;
  /** `null` if the verification did not fail. */
  reason: string | null;
  eventType: string;
  traceparent: string | null;
  /** Id by which the endpoint or its preset detects duplicates. */
  dedupeId: string | null;
  replayOf: Id | null;
  addedHeaders?: Record<string, string> | null;
  /** Idempotency key of the API call that sent the request, and the response stored for this key with the event. */
  idempotency: {
    request: IdempotentRequest;
    keeps: (eventId: Id, answer: SynchronousAnswer | 'refused' | 'unavailable') => StoredAnswer;
    /** Lifetime of this key. Defaults to the general lifetime of idempotency keys. */
    ttlMs?: number;
  } | null;
}

export interface Decision {
  /** `null` for an event that is routed normally. */
  disposition: Disposition | 'dropped' | null;
  /** A sentence that describes the processing result. */
  note: string | null;
  transformed: TransformedEvent | null;
}

/** Result if the filters exceeded their time limit: the event is parked until a user replays it. */
export const UNROUTED = {
  disposition: 'parked',
  note: 'Its filters took too long, so its destinations are unknown.',
  transformed: null,
} as const satisfies Decision;
export const UNANSWERED = {
  disposition: 'parked',
  note: 'The response rules took too long, so the response is unknown.',
  transformed: null,
} as const satisfies Decision;

/** Stores the event, the raw request and one delivery per matching route, in one commit. */
@Injectable()
export class AcceptReceived {
  private readonly logger = new Logger(AcceptReceived.name);

  constructor(
    private readonly environments: Environments,
    private readonly retention: Retention,
    private readonly routing: Routing,
    private readonly ledger: Ledger,
    private readonly deduplication: Deduplication,
    private readonly vault: Vault,
  ) {}

  /**
   * Stores the event and resolves to `answer` after the commit. If the filters exceed their time limit, the event is
   * parked regardless of its disposition, and the response says so. Throws 503 if the database is unavailable.
   */
  async accept<A extends SynchronousAnswer | 'refused'>(
    endpoint: LiveEndpoint,
    verified: VerifiedRequest,
    asked: Decision,
    answer: A,
  ): Promise<A | SynchronousAnswer> {
    const { id, request, verification, idempotency } = verified;
    const { transformed } = asked;
    const { organizationId } = await this.environments.get(endpoint.environmentId);
    const payload = transformed?.body?.text ?? textOrBytes(request.body);
    const view = transformed?.body
      ? new RequestView({ ...request, body: Buffer.from(transformed.body.text) }, verification, { isUnpacked: true })
      : new RequestView(request, verification);
    const routed =
      asked.disposition === null
        ? await this.route(endpoint, organizationId, view, { payload, isReplay: verified.replayOf !== null })
        : [];
    const decision: Decision = routed === null ? { ...UNROUTED, transformed } : asked;
    const deliveries = routed ?? [];
    const given = routed === null && answer !== 'refused' ? parkedAnswer(answer, id, UNROUTED.note) : answer;
    if (decision !== asked || asked === UNANSWERED)
      this.logger.warn(`Endpoint ${showId('ep', endpoint.id)}: ${decision.note}`);
    const headers = sealHeaders(
      this.vault,
      { environmentId: endpoint.environmentId, id },
      request.headers,
      secretHeaders(endpoint.scheme),
    );
    await this.ledger.receive({
      environmentId: endpoint.environmentId,
      id,
      expiresOnDay: await this.retention.expiresOnDay(endpoint.environmentId, id),
      endpointId: endpoint.id,
      endpointPath: endpoint.path,
      eventType: transformed?.eventType ?? verified.eventType,
      headers: headersOf(verified, transformed, secretHeaders(endpoint.scheme)),
      traceparent: verified.traceparent,
      payload,
      payloadBytes: Buffer.byteLength(payload),
      disposition: decision.disposition ?? (deliveries.length === 0 ? 'ignored' : null),
      deliveries,
      request: storedRequest({
        verified,
        decision,
        headers,
        answer: verified.replayOf === null ? keptAnswer(given, id) : null,
      }),
      idempotency: idempotency && { request: idempotency.request, ...idempotency.keeps(id, given) },
      keyTtlMs: idempotency?.ttlMs ?? null,
    });
    return given;
  }

  /** Stores a duplicate of event `firstId`. Resolves after the commit. Throws 503 if the database is unavailable. */
  async keepDuplicate(
    endpoint: LiveEndpoint,
    verified: VerifiedRequest,
    firstId: Id,
    answer: SynchronousAnswer,
  ): Promise<void> {
    const { id, request } = verified;
    const { environmentId } = endpoint;
    const headers = sealHeaders(this.vault, { environmentId, id }, request.headers, secretHeaders(endpoint.scheme));
    const note = `It repeats ${showId('evt', firstId)}: it was answered as that was, and made no event.`;
    const stored = storedRequest({
      verified,
      decision: { disposition: null, note, transformed: null },
      headers,
      answer: keptAnswer(answer, firstId),
    });
    await this.deduplication.record({
      environmentId,
      id,
      endpointId: endpoint.id,
      duplicateOf: firstId,
      request: { ...stored, body: request.body },
      expiresOnDay: await this.retention.expiresOnDay(environmentId, id),
    });
  }

  private route(
    endpoint: LiveEndpoint,
    organizationId: Id,
    view: RequestView,
    { payload, isReplay }: { payload: string | Buffer; isReplay: boolean },
  ): Promise<Arrival[] | null> {
    return isReplay
      ? this.routing.routeAgain(endpoint, organizationId, view, payload)
      : this.routing.route(endpoint, organizationId, view, payload);
  }
}

/** Omits the provider's headers that describe the body if the body was transformed. */
function headersOf(
  { request, addedHeaders }: VerifiedRequest,
  transformed: Decision['transformed'],
  secret: ReadonlySet<string>,
): Record<string, string> {
  const headers = forwardedFrom(request.headers, secret);
  headers[HOPS_HEADER] = String(hopsOf(headerOf(request, HOPS_HEADER)) + 1);
  if (transformed?.body) {
    delete headers['content-encoding'];
    if (transformed.body.isJson) headers['content-type'] = 'application/json';
  }
  for (const name of transformed?.headers?.removed ?? []) if (!OF_BODY.has(name)) delete headers[name];
  // Headers that a policy adds come from the operator, so a transform cannot remove them.
  return { ...headers, ...transformed?.headers?.set, ...addedHeaders };
}

/** Headers that describe the encoding of the body, which every delivery keeps. */
const OF_BODY: ReadonlySet<string> = new Set(['content-type', 'content-encoding', HOPS_HEADER]);

interface Stored {
  verified: VerifiedRequest;
  decision: Decision;
  headers: StoredHeader[];
  answer: string | null;
}

function storedRequest({ verified, decision, headers, answer }: Stored): NewRequest {
  const { request, verification, replayOf, dedupeId } = verified;
  const { note, transformed } = decision;
  const { method, url, path, query, body, ip } = request;
  return {
    method,
    url,
    path,
    query,
    headers,
    ip,
    verification,
    note,
    replayOf,
    answer,
    body: transformed?.body ? body : null,
    sizeBytes: body.length,
    dedupeId,
  };
}

/** Returns a buffer for text that contains U+0000, because PostgreSQL's `text` type cannot store that character. */
function textOrBytes(body: Buffer): string | Buffer {
  if (body.includes(0)) return body;
  const text = body.toString();
  return Buffer.byteLength(text) === body.length && Buffer.from(text).equals(body) ? text : body;
}
