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
import { Environments, Retention } from '#modules/auth/contract.js';
import { type Arrival, Ledger, type NewRequest } from '#modules/ledger/accept.contract.js';
import { Deduplication } from '#modules/ledger/deduplication.contract.js';
import type { LiveEndpoint } from './live-endpoint.js';
import { keptAnswer, parkedAnswer } from './received-answer.js';
import { Routing } from './routing.js';
import type { TransformedEvent } from './url-transforms.js';

/** A request whose signature was looked at, and the event that it becomes. */
export interface VerifiedRequest {
  /** The event's. */
  id: Id;
  request: ReceivedRequest;
  verification: Verification;
  /** Why it failed; null when it did not. */
  reason: string | null;
  eventType: string;
  traceparent: string | null;
  /** The id by which the endpoint, or its preset, tells repeats. */
  dedupeId: string | null;
  replayOf: Id | null;
  /** What a policy adds to the headers of its deliveries. */
  addedHeaders?: Record<string, string> | null;
  /** The key of the call that sent it here, and what is kept for it in the commit of the event. */
  idempotency: {
    request: IdempotentRequest;
    keeps: (eventId: Id, answer: SynchronousAnswer | 'refused' | 'unavailable') => StoredAnswer;
    /** For how long; as long as any key's when left out. */
    ttlMs?: number;
  } | null;
}

/** What is to become of an event. */
export interface Decision {
  /** Null for one that goes where the routes lead. */
  disposition: Disposition | 'dropped' | null;
  /** A sentence on what happened to it. */
  note: string | null;
  transformed: TransformedEvent | null;
}

/** Where filters, or rules, took too long, nobody knows what was meant: somebody looks at it, and replays the request. */
export const UNROUTED = {
  disposition: 'parked',
  note: 'Its filters took too long: nobody knows where it goes.',
  transformed: null,
} as const satisfies Decision;
export const UNANSWERED = {
  disposition: 'parked',
  note: 'The response rules took too long: nobody knows its answer.',
  transformed: null,
} as const satisfies Decision;

/** Accepts what was decided: event, raw request and a delivery for each matching route, in one commit. */
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
   * Resolves after the commit to what the provider is answered: `answer`, which also says it when its filters took too long,
   * so that it is parked whatever was decided. Throws 503 when storage is away.
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

  /** Keeps a request that repeats the one behind `firstId`: resolves after the commit. Throws 503 when storage is away. */
  async keepRepeat(
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

/** What deliveries carry: a transformed body is no longer what the provider's headers say of it. */
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
  // What a policy adds is the operator's word: no transform takes it away.
  return { ...headers, ...transformed?.headers?.set, ...addedHeaders };
}

/** What says how the body is written goes with every body. */
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

/** PostgreSQL's text holds every UTF-8 text but one with U+0000. */
function textOrBytes(body: Buffer): string | Buffer {
  if (body.includes(0)) return body;
  const text = body.toString();
  return Buffer.byteLength(text) === body.length && Buffer.from(text).equals(body) ? text : body;
}
