import { Injectable, Logger } from '@nestjs/common';
import { Environments } from '#modules/auth/contract.js';
import { Ledger, type Disposition, type NewRequest } from '#modules/ledger/accept.contract.js';
import { RequestView } from '#engine/conditions/request-view.js';
import { dedupeIdOf, eventTypeOf } from '#engine/inbound/classify.js';
import { forwardedFrom, hopsOf, HOPS_HEADER, HOPS_MAX } from '#engine/inbound/forward.js';
import { headerOf, type ReceivedRequest, type SynchronousAnswer, type Verification } from '#engine/inbound/request.js';
import { secretHeaders } from '#engine/inbound/secret-headers.js';
import { isOfTopic, snsCertificateUrl } from '#engine/inbound/sns.js';
import { verify } from '#engine/inbound/verify.js';
import { Clock } from '#kernel/clock.js';
import { conflict, unavailable } from '#kernel/errors.js';
import { Ids, idTimeMs, showId, type Id } from '#kernel/ids.js';
import { Tracing } from '#kernel/tracing.js';
import { Answering } from './answering.js';
import { Certificates } from './certificates.js';
import type { LiveEndpoint } from './live-endpoint.js';
import { Routing } from './routing.js';
import type { Transformed } from './url-transforms.js';
import { Transformer } from './transformer.js';

/** What came of a request. */
export interface Passed {
  /** Null for a handshake, which is no event. */
  eventId: Id | null;
  /** `refused`: the signature did not hold. `unavailable`: what answers for the endpoint is away, and nothing was stored. */
  answer: SynchronousAnswer | 'refused' | 'unavailable';
}

/** How a request gets here besides from a provider. */
export interface Origin {
  /** The request that this one repeats: its verdict holds, and nobody is there to be answered. */
  replayOf: { id: Id; verification: Verification } | null;
  traceparent: string | undefined;
}

/** Everything between verifying and storing. */
interface Prepared {
  id: Id;
  request: ReceivedRequest;
  verification: Verification;
  eventType: string;
  traceparent: string | null;
  replayOf: Id | null;
}

/** Of the default answer. */
export const RECEIVED_HEADERS: Record<string, string> = Object.freeze({ 'content-type': 'application/json; charset=utf-8' });

const DAY_MS = 86_400_000;
const VERDICT_KEPT = new Set<Verification>(['verified']);

/** The services that a request passes on its way. */
@Injectable()
export class PipelineSteps {
  constructor(
    readonly transformer: Transformer,
    readonly routing: Routing,
    readonly answering: Answering,
    readonly certificates: Certificates,
    readonly environments: Environments,
  ) {}
}

/**
 * What happens to a request that came to an endpoint: verify, handshake, transform, route, store, answer. The answer is
 * given after the commit only; whatever dies before it leaves nothing behind, and the provider sends again.
 */
@Injectable()
export class Pipeline {
  private readonly logger = new Logger(Pipeline.name);

  constructor(
    private readonly steps: PipelineSteps,
    private readonly ledger: Ledger,
    private readonly ids: Ids,
    private readonly clock: Clock,
    private readonly tracing: Tracing,
  ) {}

  /** Throws 409 for a request that goes in circles, and 503 when storage is away. */
  async pass(endpoint: LiveEndpoint, request: ReceivedRequest, { replayOf, traceparent }: Origin): Promise<Passed> {
    if (hopsOf(headerOf(request, HOPS_HEADER)) >= HOPS_MAX) {
      throw conflict(`This request has passed through here ${HOPS_MAX} times: endpoints and destinations form a loop.`);
    }
    const secrets = this.secretsOf(endpoint);
    const verification = await this.verification(endpoint, request, secrets, replayOf?.verification);
    if (replayOf === null) {
      const handshake = await this.steps.answering.handshake(endpoint, request, verification, secrets);
      if (handshake) return { eventId: null, answer: handshake };
    }
    const eventType = eventTypeOf(endpoint.preset, request);
    const span = this.tracing.startAccept(traceparent, eventType);
    const prepared = { id: this.ids.next(), request, verification, eventType, traceparent: span.traceparent, replayOf: replayOf?.id ?? null };
    const answer = await this.store(endpoint, prepared);
    span.end('accepted');
    return { eventId: answer === 'unavailable' ? null : prepared.id, answer };
  }

  /** A secret that was replaced goes on verifying until its grace ends. */
  private secretsOf({ secrets }: LiveEndpoint): string[] {
    const nowMs = this.clock.nowMs();
    return secrets.filter(({ untilMs }) => untilMs === null || untilMs > nowMs).map(({ secret }) => secret);
  }

  /** A repeated request keeps a good verdict: its timestamp is too old by now. One that failed may hold with today's secret. */
  private async verification(
    { scheme }: LiveEndpoint, request: ReceivedRequest, secrets: readonly string[], earlier: Verification | undefined,
  ): Promise<Verification> {
    if (earlier !== undefined && VERDICT_KEPT.has(earlier)) return earlier;
    const url = scheme.kind === 'sns' && isOfTopic(request, secrets) ? snsCertificateUrl(request) : null;
    const certificate = url === null ? undefined : await this.steps.certificates.get(url);
    if (url !== null && certificate === undefined) throw unavailable('The certificate of the signature can\'t be had right now. Send it again.');
    // A repeated request is checked as of when it came.
    const atMs = earlier === undefined ? this.clock.nowMs() : this.receivedAtMs(request);
    return verify(scheme, request, secrets, atMs, certificate);
  }

  private receivedAtMs(request: ReceivedRequest): number {
    return request.receivedAtMs ?? this.clock.nowMs();
  }

  private async store(endpoint: LiveEndpoint, prepared: Prepared): Promise<Passed['answer']> {
    const { request, verification, id } = prepared;
    if (verification === 'failed') {
      await this.accept(endpoint, prepared, { disposition: 'quarantined', note: 'The signature did not hold.', transformed: null });
      return 'refused';
    }
    const received = received200(id);
    if (endpoint.status !== 'active') {
      await this.accept(endpoint, prepared, { disposition: 'parked', note: `The endpoint is ${endpoint.status}.`, transformed: null });
      return received;
    }
    const shownId = showId('evt', id);
    const [transformed, answer] = await Promise.all([
      this.steps.transformer.run(endpoint, { eventId: shownId, eventType: prepared.eventType, request, verification }),
      prepared.replayOf === null ? this.steps.answering.answer(endpoint, shownId, request, verification) : null,
    ]);
    if (transformed.kind === 'busy') throw unavailable('Too many transforms are running. Nothing was accepted, send it again.');
    if (answer === 'unavailable') return answer;
    await this.accept(endpoint, prepared, fateOf(endpoint, transformed));
    return answer ?? received;
  }

  private async accept(endpoint: LiveEndpoint, prepared: Prepared, fate: Fate): Promise<void> {
    const { id, request, verification } = prepared;
    const { disposition, transformed } = fate;
    const { retentionDays } = await this.steps.environments.get(endpoint.environmentId);
    const payload = transformed?.body ?? textOrBytes(request.body);
    const view = new RequestView(transformed ? { ...request, body: Buffer.from(transformed.body) } : request, verification);
    const deliveries = disposition === null ? await this.steps.routing.route(endpoint, view, payload) : [];
    if (view.isExhausted) this.logger.warn(`The filters of endpoint ${showId('ep', endpoint.id)} took too long for one request and do not match.`);
    await this.ledger.receive({
      environmentId: endpoint.environmentId,
      id,
      expiresOnDay: Math.floor(idTimeMs(id) / DAY_MS) + retentionDays,
      endpointId: endpoint.id,
      endpointPath: endpoint.path,
      eventType: transformed?.eventType ?? prepared.eventType,
      headers: headersOf(request, transformed, secretHeaders(endpoint.scheme)),
      traceparent: prepared.traceparent,
      payload,
      payloadBytes: Buffer.byteLength(payload),
      disposition: disposition ?? (deliveries.length === 0 ? 'ignored' : null),
      deliveries,
      request: storedRequest(prepared, fate, endpoint),
    });
  }
}

/** What deliveries carry: a transformed body is no longer what the provider's headers say of it. */
function headersOf(request: ReceivedRequest, transformed: Fate['transformed'], secret: ReadonlySet<string>): Record<string, string> {
  const headers = forwardedFrom(request.headers, secret);
  headers[HOPS_HEADER] = String(hopsOf(headerOf(request, HOPS_HEADER)) + 1);
  if (transformed === null) return headers;
  const { 'content-encoding': _gone, ...rest } = headers;
  return transformed.isJson ? { ...rest, 'content-type': 'application/json' } : rest;
}

function storedRequest({ request, verification, replayOf }: Prepared, { note, transformed }: Fate, { preset }: LiveEndpoint): NewRequest {
  const { method, url, path, query, headers, body, ip } = request;
  return {
    method, url, path, query, headers, ip, verification, note, replayOf,
    body: transformed ? body : null,
    sizeBytes: body.length,
    dedupeId: dedupeIdOf(preset, request),
  };
}

/** What is to become of an event. */
interface Fate {
  disposition: Disposition | null;
  note: string | null;
  transformed: Extract<Transformed, { kind: 'body' }> | null;
}

function fateOf({ transform }: LiveEndpoint, transformed: Exclude<Transformed, { kind: 'busy' }>): Fate {
  switch (transformed.kind) {
    case 'unchanged':
      return { disposition: null, note: null, transformed: null };
    case 'body':
      return { disposition: null, note: 'transformed', transformed };
    case 'dropped':
      return { disposition: 'ignored', note: 'The transform dropped it.', transformed: null };
    case 'failed': {
      const why = `The transform failed: ${transformed.why}.`.slice(0, 500);
      return transform?.failMode === 'open'
        ? { disposition: null, note: `${why} It was delivered untransformed.`, transformed: null }
        : { disposition: 'parked', note: why, transformed: null };
    }
  }
}

/** PostgreSQL's text holds every UTF-8 text but one with U+0000. */
function textOrBytes(body: Buffer): string | Buffer {
  if (body.includes(0)) return body;
  const text = body.toString();
  return Buffer.byteLength(text) === body.length && Buffer.from(text).equals(body) ? text : body;
}

function received200(id: Id): SynchronousAnswer {
  return { status: 200, headers: RECEIVED_HEADERS, body: `{"received":true,"id":"${showId('evt', id)}"}` };
}
