import { Injectable } from '@nestjs/common';
import { withoutConfigured } from '#engine/headers.js';
import { type Answer, classify, decide, type Decision, type Outcome } from '#engine/outcome.js';
import { Clock } from '#kernel/clock.js';
import { headersPlace, openNamed } from '#kernel/crypto/sealed-headers.js';
import { Vault } from '#kernel/crypto/vault.js';
import { isUnreachable } from '#kernel/database/retry-until-available.js';
import { showId } from '#kernel/ids.js';
import { Tracing } from '#kernel/observability/tracing.js';
import { type DeliveryAnswer, Postponed, shownTargetId, type Target } from '#modules/destinations/contract.js';
import { Targets } from '#modules/destinations/targets.js';
import { RequestsStore } from '#modules/events/requests.store.js';
import type { ClaimedDelivery } from '#modules/ledger/claims.contract.js';
import type { DeliveryResult } from '#modules/ledger/record.contract.js';
import { HeldCancellations } from './held-cancellations.js';
import { keptExchange } from './kept-exchange.js';
import { attemptMsMax, deliverSupervised } from './supervised-delivery.js';
import { WorkerHeartbeat } from './worker-heartbeat.js';

/**
 * Time after which an attempt that is still running frees its slot in the target's concurrency window. Most attempts to
 * deliver a webhook end sooner.
 */
const LINGERING_MS = 30_000;
const POSTPONED_MS = 30_000;
/**
 * Delay before the next attempt of a delivery that was postponed by a storage error. A short delay is enough: the
 * postponement itself can be stored only once storage is available again.
 */
const POSTPONED_FOR_STORAGE_MS = 1_000;

/** The result to store, and the outcome that updates the target's concurrency window and circuit breaker. */
export interface Performed {
  result: DeliveryResult;
  /** Null if nothing was sent. */
  outcome: Outcome | null;
  target: Target | null;
}

/** Makes one attempt: loads the target, sends the request, and decides the result. It writes nothing. */
@Injectable()
export class Attempt {
  constructor(
    private readonly targets: Targets,
    private readonly clock: Clock,
    private readonly tracing: Tracing,
    private readonly requests: RequestsStore,
    private readonly cancellations: HeldCancellations,
    private readonly vault: Vault,
    private readonly presence: WorkerHeartbeat,
  ) {}

  /**
   * Makes one attempt and returns its result. `probe`: the attempt tests whether an open circuit breaker can close. A
   * failed probe is not counted as an attempt, and the delivery keeps waiting. Calls `onLingering` if the attempt runs
   * longer than `LINGERING_MS`.
   */
  async perform(
    delivery: ClaimedDelivery,
    probe: boolean,
    onLingering: () => void = () => undefined,
  ): Promise<Performed> {
    // Awaits only a real promise. An unconditional await would slow down every delivery.
    const found = this.targets.ofDelivery(delivery.environmentId, delivery);
    const target = found instanceof Promise ? await found : found;
    const cancelled = this.cancellations.reasonOf(delivery);
    const hopeless = (cancelled instanceof Promise ? await cancelled : cancelled) ?? whyHopeless(delivery, target);
    if (hopeless !== null || target === null)
      return { result: ended(delivery, 'failed', hopeless), outcome: null, target };
    const adapter = this.targets.adapter(target.type);
    if (adapter.pulled)
      return { result: { ...ended(delivery, 'delivered', null), pulled: true }, outcome: null, target };
    const startedAtMs = this.clock.nowMs();
    const own = delivery.headers && openNamed(this.vault, headersPlace(delivery), delivery.headers);
    const headers = own !== null && delivery.direction === 'inbound' ? withoutConfigured(own, target.headers) : own;
    const span = this.tracing.startDelivery(delivery.traceparent, () => spanOf(delivery, target));
    // Starts a timer only if the attempt may take longer than `LINGERING_MS`. Most types of destinations have shorter
    // timeouts.
    const lingering = attemptMsMax(adapter, target) > LINGERING_MS ? setTimeout(onLingering, LINGERING_MS) : undefined;
    const answer = await deliverSupervised(
      adapter,
      {
        webhookId: showId(delivery.direction === 'inbound' ? 'evt' : 'msg', delivery.messageId ?? delivery.eventId),
        eventType: delivery.eventType,
        body: delivery.payload ?? '',
        request: () => this.requests.find(delivery.environmentId, delivery.eventId),
        headers,
        requestLine: delivery.requestLine,
        replayed: delivery.replayed,
        traceparent: span.traceparent,
        atMs: startedAtMs,
        mayBegin: () => this.presence.mayStart(delivery.claimedBy),
      },
      target,
    ).finally(() => clearTimeout(lingering));
    const outcome = classify(answer.answer);
    span.end(outcome, () => answerOf(answer.answer));
    if (answer.isCanceled === true && outcome !== 'success')
      return { result: ended(delivery, 'failed', 'cancelled'), outcome: null, target };
    const exchange = outcome === 'success' ? null : keptExchange(answer.exchange, headers, target);
    return {
      result: this.decided({ delivery, target, answer, outcome, startedAtMs, probe, exchange }),
      outcome,
      target,
    };
  }

  /**
   * Returns the result of an attempt that could not be made: a retry after the delay that the error specifies. If it
   * specifies none, the delay is 1 s if storage was unavailable, otherwise 30 s.
   */
  postponed(delivery: ClaimedDelivery, error: unknown): DeliveryResult {
    const ofError = wasStorageAway(error) ? POSTPONED_FOR_STORAGE_MS : POSTPONED_MS;
    return {
      ...ended(delivery, 'retrying', null),
      dueInMs: error instanceof Postponed ? error.retryInMs : ofError,
    };
  }

  private decided(made: Made): DeliveryResult {
    const { delivery, target, answer, outcome, startedAtMs, probe, exchange } = made;
    const attemptsUsed = delivery.attemptsUsed + 1;
    const firstAttemptAt = new Date(delivery.firstAttemptAtMs ?? startedAtMs);
    const now = this.clock.now();
    const waitsOn = probe && (outcome === 'failed' || outcome === 'throttled');
    const decision: Decision = waitsOn
      ? { status: 'retrying', dueAt: now }
      : decide(outcome, answer.answer, { attemptsUsed, firstAttemptAt }, target.retry, now, this.clock.random());
    return {
      environmentId: delivery.environmentId,
      eventId: delivery.eventId,
      ordinal: delivery.ordinal,
      claimedBy: delivery.claimedBy,
      status: decision.status,
      reason: decision.status === 'failed' ? decision.reason : null,
      dueInMs: decision.status === 'retrying' ? decision.dueAt.getTime() - now.getTime() : null,
      parked: waitsOn,
      attemptsUsed: waitsOn ? delivery.attemptsUsed : attemptsUsed,
      pulled: false,
      counted: delivery.url === null,
      attempt: {
        number: delivery.attempts + 1,
        startedAtMs,
        durationMs: answer.durationMs,
        httpStatus: answer.answer.kind === 'response' ? answer.answer.status : null,
        error: answer.answer.kind === 'error' ? answer.answer.error : null,
        excerpt: answer.excerpt,
        ...(exchange !== null && { exchange }),
      },
    };
  }
}

interface Made {
  delivery: ClaimedDelivery;
  target: Target;
  answer: DeliveryAnswer;
  outcome: Outcome;
  startedAtMs: number;
  probe: boolean;
  /** Request and response as JSON. Null if they are not stored. */
  exchange: string | null;
}

function wasStorageAway(error: unknown): boolean {
  return isUnreachable(error) || (error instanceof Error && error.cause !== undefined && wasStorageAway(error.cause));
}

/** Returns the reason why the delivery can no longer be sent, or null if it can. */
function whyHopeless(delivery: ClaimedDelivery, target: Target | null): string | null {
  if (target === null) return 'target_gone';
  if (target.status === 'disabled') return 'target_disabled';
  return delivery.payload === null ? 'expired' : null;
}

function ended(delivery: ClaimedDelivery, status: DeliveryResult['status'], reason: string | null): DeliveryResult {
  return {
    environmentId: delivery.environmentId,
    eventId: delivery.eventId,
    ordinal: delivery.ordinal,
    claimedBy: delivery.claimedBy,
    status,
    reason,
    dueInMs: null,
    parked: false,
    attemptsUsed: delivery.attemptsUsed,
    pulled: false,
    counted: delivery.url === null,
    attempt: null,
  };
}

/** Returns span attributes by OpenTelemetry's HTTP and messaging conventions. Omits the path, which may be secret. */
function spanOf(
  { direction, messageId, eventId, attempts }: ClaimedDelivery,
  { type, url, destinationId, ownerId }: Target,
): Record<string, string | number> {
  const web = url?.protocol === 'https:' || url?.protocol === 'http:' ? url : null;
  return {
    'messaging.message.id': showId(direction === 'inbound' ? 'evt' : 'msg', messageId ?? eventId),
    'posthorn.event.id': showId('evt', eventId),
    'posthorn.attempt.number': attempts + 1,
    'posthorn.destination_type': type,
    ...(destinationId !== null && { 'posthorn.destination.id': shownTargetId(destinationId, ownerId) }),
    ...(attempts > 0 && { 'http.request.resend_count': attempts }),
    ...(web && {
      'url.scheme': web.protocol.slice(0, -1),
      'server.address': web.hostname,
      'server.port': Number(web.port) || (web.protocol === 'https:' ? 443 : 80),
    }),
  };
}

function answerOf(answer: Answer): Record<string, string | number> {
  if (answer.kind === 'error') return { 'error.type': answer.error };
  return {
    'http.response.status_code': answer.status,
    ...(answer.status >= 400 && { 'error.type': String(answer.status) }),
  };
}
