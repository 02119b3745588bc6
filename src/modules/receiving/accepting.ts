import { isUtf8 } from 'node:buffer';
import { Injectable, Logger } from '@nestjs/common';
import type { CodeLogs } from '#engine/code-logs.js';
import { RequestView } from '#engine/conditions/request-view.js';
import type { Disposition } from '#engine/inbound/disposition.js';
import { forwardedFrom, HOPS_HEADER, hopsOf, OF_BODY, omittedNote } from '#engine/inbound/forward.js';
import { withoutParameters } from '#engine/inbound/forwarded-url.js';
import { withReplaced } from '#engine/inbound/query.js';
import { headerOf, type ReceivedRequest, type SynchronousAnswer, type Verification } from '#engine/inbound/request.js';
import type { CredentialNames } from '#engine/inbound/secret-headers.js';
import { KeyedSemaphore } from '#kernel/concurrency/keyed-semaphore.js';
import { sealHeaders } from '#kernel/crypto/sealed-headers.js';
import { sealParameter } from '#kernel/crypto/sealed-parameters.js';
import { Vault } from '#kernel/crypto/vault.js';
import { unavailable } from '#kernel/errors.js';
import type { IdempotentRequest, StoredAnswer } from '#kernel/idempotency.js';
import { type Id, Ids, showId } from '#kernel/ids.js';
import { Retention } from '#modules/auth/environments/retention.js';
import { BODY_BYTES_DEFAULT } from '#modules/endpoints/contract.js';
import { type Arrival, type NewRequest } from '#modules/ledger/accept.contract.js';
import { EventlessRequests } from '#modules/ledger/eventless-requests.js';
import { Ledger } from '#modules/ledger/ledger.js';
import type { LiveEndpoint } from './live-endpoint.js';
import { keptAnswer, parkedAnswer, TOO_LARGE } from './received-answer.js';
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
  /** Id that the endpoint or its preset uses to detect duplicates. */
  dedupeId: string | null;
  replayOf: Id | null;
  /** Credentials of the request. They are stored encrypted and not forwarded. */
  credentials: CredentialNames;
  addedHeaders?: Record<string, string> | null;
  /** Set for a request that was sent through the API: its idempotency key, and the response to store for this key. */
  idempotency: {
    request: IdempotentRequest;
    keeps: (eventId: Id, answer: SynchronousAnswer | 'refused' | 'unavailable') => StoredAnswer;
    /** Lifetime of the idempotency key. Defaults to the general lifetime of idempotency keys. */
    ttlMs?: number;
  } | null;
}

export interface Decision {
  /** `null` for an event that is routed normally. */
  disposition: Disposition | 'dropped' | null;
  /** A sentence that describes the processing result. */
  note: string | null;
  transformed: TransformedEvent | null;
  /** Output of the transform's console. */
  logs?: CodeLogs | null;
}

/**
 * Result for an event whose filters exceeded their time limit. The event is stored, but not delivered until a user
 * replays it (`parked`).
 */
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

/** Maximum of PostgreSQL's `int`. Larger sizes are stored as this maximum, because a sender may declare any size. */
const SIZE_BYTES_MAX = 2_147_483_647;
/**
 * Maximum number of large requests (body of over 1 MB) that are stored at the same time, because each needs memory of
 * up to five times the size of its body. Also the maximum number of one organization's large requests that are being
 * stored or wait to be stored.
 */
const LARGE_AT_ONCE = 2;
/** Maximum time that a large request waits to be stored. Providers wait at least ten seconds for a response. */
const LARGE_WAIT_MS_MAX = 8_000;
const LARGE = 'large';

/** Stores the event, the raw request and one delivery per matching route, in one commit. */
@Injectable()
export class AcceptReceived {
  private readonly logger = new Logger(AcceptReceived.name);
  private readonly large = new KeyedSemaphore(LARGE_AT_ONCE);

  constructor(
    private readonly retention: Retention,
    private readonly routing: Routing,
    private readonly ledger: Ledger,
    private readonly eventless: EventlessRequests,
    private readonly vault: Vault,
    private readonly ids: Ids,
  ) {}

  /**
   * Stores the event and resolves to `answer` after the commit. If the filters exceed their time limit, parks the event
   * regardless of its disposition, and adds a note to the response. Throws 503 if the database is unavailable.
   */
  async accept<A extends SynchronousAnswer | 'refused'>(
    endpoint: LiveEndpoint,
    verified: VerifiedRequest,
    asked: Decision,
    answer: A,
  ): Promise<A | SynchronousAnswer> {
    // Filters run before the request enters the queue for storing. In the queue, one tenant's slow filters would delay
    // other tenants.
    const routed = asked.disposition === null ? await this.route(endpoint, verified, asked) : [];
    const store = (): Promise<A | SynchronousAnswer> => this.store(endpoint, verified, asked, { routed, answer });
    if (verified.request.body.length <= BODY_BYTES_DEFAULT) return store();
    // The limit per organization is applied first. Otherwise, one organization's requests could fill the queue of the
    // shared limit.
    const given = await this.large.run(endpoint.organizationId, LARGE_WAIT_MS_MAX, (leftMs) =>
      this.large.run(LARGE, leftMs, store),
    );
    if (given === null)
      throw unavailable('Too many large requests are being stored. Nothing was accepted, send it again.');
    return given;
  }

  private async store<A extends SynchronousAnswer | 'refused'>(
    endpoint: LiveEndpoint,
    verified: VerifiedRequest,
    asked: Decision,
    { routed, answer }: { routed: Omit<Arrival, 'payload'>[] | null; answer: A },
  ): Promise<A | SynchronousAnswer> {
    const { id, request, idempotency } = verified;
    const { transformed, logs } = asked;
    const payload = transformed?.body?.text ?? textOrBytes(request.body);
    const decision: Decision = routed === null ? { ...UNROUTED, transformed, logs } : asked;
    const deliveries = (routed ?? []).map((delivery) => ({ ...delivery, payload }));
    const given = routed === null && answer !== 'refused' ? parkedAnswer(answer, id, UNROUTED.note) : answer;
    if (decision !== asked || asked === UNANSWERED)
      this.logger.warn(`Endpoint ${showId('ep', endpoint.id)}: ${decision.note}`);
    const forwarded = headersOf(verified, transformed);
    await this.ledger.receive({
      environmentId: endpoint.environmentId,
      id,
      expiresOnDay: await this.retention.expiresOnDay(endpoint.environmentId, id),
      endpointId: endpoint.id,
      endpointPath: endpoint.path,
      eventType: transformed?.eventType ?? verified.eventType,
      headers: forwarded.headers,
      requestLine: {
        method: request.method,
        path: request.path,
        query: withoutParameters(request.query, verified.credentials.parameters),
      },
      traceparent: verified.traceparent,
      payload,
      payloadBytes: Buffer.byteLength(payload),
      disposition: decision.disposition ?? (deliveries.length === 0 ? 'ignored' : null),
      deliveries,
      request: storedRequest({
        verified,
        decision:
          forwarded.omitted.length === 0
            ? decision
            : { ...decision, note: joined(decision.note, omittedNote(forwarded.omitted)) },
        sealed: this.sealed(endpoint, id, request, verified.credentials),
        answer: verified.replayOf === null ? keptAnswer(given, id) : null,
      }),
      idempotency: idempotency && { request: idempotency.request, ...idempotency.keeps(id, given) },
      keyTtlMs: idempotency?.ttlMs ?? null,
    });
    return given;
  }

  /**
   * Stores the request as a duplicate of event `firstId`. Resolves after the commit. Throws 503 if the database is
   * unavailable.
   */
  async keepDuplicate(
    endpoint: LiveEndpoint,
    verified: VerifiedRequest,
    firstId: Id,
    answer: SynchronousAnswer,
  ): Promise<void> {
    const { id, request } = verified;
    const { environmentId } = endpoint;
    const note = `It repeats ${showId('evt', firstId)}: it was answered as that was, and made no event.`;
    const stored = storedRequest({
      verified,
      decision: { disposition: null, note, transformed: null },
      sealed: this.sealed(endpoint, id, request, verified.credentials),
      answer: keptAnswer(answer, firstId),
    });
    await this.eventless.record({
      environmentId,
      id,
      endpointId: endpoint.id,
      duplicateOf: firstId,
      isTooLarge: false,
      request: { ...stored, body: request.body },
      expiresOnDay: await this.retention.expiresOnDay(environmentId, id),
    });
  }

  /** Returns the query, URL and headers of the request. Encrypts the values that may authenticate the request. */
  private sealed(
    { environmentId }: LiveEndpoint,
    id: Id,
    request: ReceivedRequest,
    names: CredentialNames,
  ): SealedParts {
    const of = { environmentId, id };
    const { query, url } = withReplaced(request, names.parameters, (value) => sealParameter(this.vault, of, value));
    return { query, url, headers: sealHeaders(this.vault, of, request.headers, names.headers) };
  }

  /**
   * Stores a request without its body, which is too large. Resolves to the id of the request after the commit. Throws
   * 503 if the database is unavailable.
   */
  async keepTooLarge(endpoint: LiveEndpoint, request: ReceivedRequest, sizeBytes: number): Promise<Id> {
    const { environmentId, maxBodyBytes } = endpoint;
    const id = this.ids.next();
    const { method, path, ip } = request;
    await this.eventless.record({
      environmentId,
      id,
      endpointId: endpoint.id,
      duplicateOf: null,
      isTooLarge: true,
      expiresOnDay: await this.retention.expiresOnDay(environmentId, id),
      request: {
        method,
        path,
        ip,
        ...this.sealed(endpoint, id, request, endpoint.credentials),
        verification: 'none',
        note: `The body is larger than ${maxBodyBytes} bytes, the limit of the endpoint, and was not read.`,
        replayOf: null,
        answer: TOO_LARGE,
        logs: null,
        body: null,
        sizeBytes: Math.min(sizeBytes, SIZE_BYTES_MAX),
        dedupeId: null,
      },
    });
    return id;
  }

  private route(
    endpoint: LiveEndpoint,
    { request, verification, replayOf }: VerifiedRequest,
    { transformed }: Decision,
  ): Promise<Omit<Arrival, 'payload'>[] | null> {
    const view = transformed?.body
      ? new RequestView({ ...request, body: Buffer.from(transformed.body.text) }, verification, { isUnpacked: true })
      : new RequestView(request, verification);
    return replayOf === null ? this.routing.route(endpoint, view) : this.routing.routeAgain(endpoint, view);
  }
}

/** Returns the headers to deliver. Corrects `content-encoding` and `content-type` if the body was transformed. */
function headersOf(
  { request, addedHeaders, credentials }: VerifiedRequest,
  transformed: Decision['transformed'],
): ReturnType<typeof forwardedFrom> {
  const { headers, omitted } = forwardedFrom(request.headers, credentials.headers);
  headers[HOPS_HEADER] = String(hopsOf(headerOf(request, HOPS_HEADER)) + 1);
  if (transformed?.body) {
    delete headers['content-encoding'];
    if (transformed.body.isJson) headers['content-type'] = 'application/json';
  }
  for (const name of transformed?.headers?.removed ?? []) if (!KEPT.has(name)) delete headers[name];
  // Headers that a policy adds come from the operator, so a transform cannot remove them.
  return { headers: { ...headers, ...transformed?.headers?.set, ...addedHeaders }, omitted };
}

function joined(...sentences: (string | null)[]): string | null {
  return sentences.filter((text) => text !== null).join(' ') || null;
}

/** Headers that a transform cannot remove. */
const KEPT: ReadonlySet<string> = new Set([...OF_BODY, HOPS_HEADER]);

type SealedParts = Pick<NewRequest, 'headers' | 'query' | 'url'>;

interface Stored {
  verified: VerifiedRequest;
  decision: Decision;
  sealed: SealedParts;
  answer: string | null;
}

function storedRequest({ verified, decision, sealed, answer }: Stored): NewRequest {
  const { request, verification, replayOf, dedupeId } = verified;
  const { note, transformed, logs = null } = decision;
  const { method, path, body, ip } = request;
  return {
    method,
    path,
    query: sealed.query,
    url: sealed.url,
    headers: sealed.headers,
    ip,
    verification,
    note,
    logs: logs && JSON.stringify(logs),
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
  return isUtf8(body) ? body.toString() : body;
}
