import { Logger } from '@nestjs/common';
import { recordable } from '#engine/excerpt.js';
import { type Answer, ATTEMPT_ERRORS, type AttemptError, type Outcome, OUTCOMES } from '#engine/outcome.js';
import { DeadlinePassed, withDeadline } from '#kernel/concurrency/deadline.js';
import {
  type DeliveryAnswer,
  type DestinationAdapter,
  type MirroredRequest,
  NotAttempted,
  type Outgoing,
  type SentExchange,
  type Target,
} from '#modules/destinations/contract.js';

/** An adapter ends its attempt within the target's time-out; one that has not by so much more never will. */
const GRACE_MS = 2_000;

const logger = new Logger('Adapters');

/**
 * One attempt of an adapter, whatever it does: one that throws, answers nonsense, or never, is an attempt that failed,
 * and what is recorded of it is text that can be stored. A promise that was given up is not waited for.
 *
 * Rejects when our own storage did not give what was to be sent: the target has nothing to do with that.
 */
export async function deliverSupervised(
  adapter: DestinationAdapter,
  outgoing: Outgoing,
  target: Target,
): Promise<DeliveryAnswer> {
  const startedAt = performance.now();
  const request = new StoredRequest(outgoing.request);
  const failed = (error: AttemptError, excerpt: string): DeliveryAnswer => ({
    answer: { kind: 'error', error },
    durationMs: Math.round(performance.now() - startedAt),
    excerpt,
  });
  const deadlineMs = attemptMsMax(adapter, target) + GRACE_MS;
  try {
    const said: unknown = await withDeadline(deadlineMs, () =>
      adapter.deliver({ ...outgoing, request: () => request.find() }, target),
    );
    const answer = answerOf(said);
    if (answer === null) {
      logger.error(`The adapter of type ${target.type} answered an attempt with what is no answer.`);
      return failed('adapter', 'The adapter of this type gave no valid answer.');
    }
    const { durationMs, excerpt, exchange } = said as Partial<Record<keyof DeliveryAnswer, unknown>>;
    return {
      answer,
      durationMs: isDuration(durationMs, deadlineMs) ? durationMs : Math.round(performance.now() - startedAt),
      excerpt: typeof excerpt === 'string' ? recordable(excerpt) : null,
      ...(fieldsOf(exchange) !== null && { exchange: exchange as SentExchange }),
    };
  } catch (error) {
    const ours = error instanceof NotAttempted ? error : request.faultOf(error);
    if (ours !== null) throw ours;
    if (error instanceof DeadlinePassed)
      return failed('timeout', `The adapter of this type did not end its attempt within ${deadlineMs} ms.`);
    // Its message may hold a credential: it is the operator's, not the owner's of the target.
    logger.error(`The adapter of type ${target.type} failed: ${error instanceof Error ? error.stack : String(error)}`);
    return failed('adapter', 'The adapter of this type failed. The log of the service says how.');
  }
}

/** No type takes longer, whatever it says. */
const ATTEMPT_MS_MAX = 3_600_000;

/** Returns the longest that an attempt takes: what the type says, or the target's time-out. Nonsense of an adapter is no answer. */
export function attemptMsMax(adapter: DestinationAdapter, { timeoutMs }: Pick<Target, 'timeoutMs'>): number {
  try {
    const said: unknown = adapter.attemptMsMax;
    return typeof said === 'number' && said > 0 ? Math.min(said, ATTEMPT_MS_MAX) : timeoutMs;
  } catch {
    return timeoutMs;
  }
}

/** The request that an attempt repeats, and whether storage gives it. */
class StoredRequest {
  private isAwaited = false;
  private fault: Error | null = null;

  constructor(private readonly load: () => Promise<MirroredRequest | null>) {}

  async find(): Promise<MirroredRequest | null> {
    this.isAwaited = true;
    try {
      return await this.load();
    } catch (error) {
      this.fault = error as Error;
      throw error;
    } finally {
      this.isAwaited = false;
    }
  }

  /** Why an attempt that came to nothing is not the target's fault, or null. */
  faultOf(end: unknown): Error | null {
    return this.fault ?? (this.isAwaited && end instanceof DeadlinePassed ? end : null);
  }
}

const ERRORS: ReadonlySet<unknown> = new Set<AttemptError>(ATTEMPT_ERRORS);
const MEANINGS: ReadonlySet<unknown> = new Set<Outcome | undefined>([...OUTCOMES, undefined]);

/** The answer in what an adapter said; null when there is none that could be decided on. */
function answerOf(said: unknown): Answer | null {
  const answer = fieldsOf(fieldsOf(said)?.['answer']);
  if (answer?.['kind'] === 'error') return ERRORS.has(answer['error']) ? (answer as Answer) : null;
  if (answer?.['kind'] !== 'response') return null;
  const { status, retryAfter = null, outcome } = answer;
  const isStatus = Number.isInteger(status) && (status as number) >= 100 && (status as number) <= 999;
  if (!isStatus || !(retryAfter === null || typeof retryAfter === 'string') || !MEANINGS.has(outcome)) return null;
  return {
    kind: 'response',
    status: status as number,
    retryAfter,
    ...(outcome === undefined ? {} : { outcome: outcome as Outcome }),
  };
}

function fieldsOf(value: unknown): Record<string, unknown> | null {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : null;
}

/** A wrong one is replaced and the answer kept: what has arrived must not be sent again for it. */
function isDuration(value: unknown, max: number): value is number {
  return typeof value === 'number' && value >= 0 && value <= max;
}
