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

/** Grace period in milliseconds after the time limit of an attempt. An attempt that exceeds it is abandoned. */
const GRACE_MS = 2_000;

const logger = new Logger('Adapters');

/**
 * Runs one attempt of an adapter, and handles all its faults. If an adapter throws, returns an invalid value or never
 * returns, the attempt fails with an error text that can be stored.
 *
 * Rejects if Posthorn's own storage could not provide the content to send, because that is not a fault of the target.
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
      logger.error(`The adapter of type ${target.type} returned an invalid answer to an attempt.`);
      return failed('adapter', 'The adapter of this type gave no valid answer.');
    }
    const { durationMs, excerpt, exchange, isCanceled } = said as Partial<Record<keyof DeliveryAnswer, unknown>>;
    return {
      answer,
      durationMs: isDuration(durationMs, deadlineMs) ? durationMs : Math.round(performance.now() - startedAt),
      excerpt: typeof excerpt === 'string' ? recordable(excerpt) : null,
      ...(fieldsOf(exchange) !== null && { exchange: exchange as SentExchange }),
      ...(isCanceled === true && { isCanceled }),
    };
  } catch (error) {
    const ours = error instanceof NotAttempted ? error : request.faultOf(error);
    if (ours !== null) throw ours;
    if (error instanceof DeadlinePassed)
      return failed('timeout', `The adapter of this type did not end its attempt within ${deadlineMs} ms.`);
    // The error may contain a credential, so it is written only to the operator's log. The owner of the target cannot
    // see it.
    logger.error(`The adapter of type ${target.type} failed: ${error instanceof Error ? error.stack : String(error)}`);
    return failed('adapter', 'The adapter of this type failed. The log of the service says how.');
  }
}

/** Upper limit for the duration of an attempt of any type, regardless of the adapter's own limit. */
const ATTEMPT_MS_MAX = 3_600_000;

/**
 * Returns the time limit of an attempt: the adapter's `attemptMsMax` (at most an hour) if that is a positive number,
 * otherwise the target's timeout.
 */
export function attemptMsMax(adapter: DestinationAdapter, { timeoutMs }: Pick<Target, 'timeoutMs'>): number {
  try {
    const said: unknown = adapter.attemptMsMax;
    return typeof said === 'number' && said > 0 ? Math.min(said, ATTEMPT_MS_MAX) : timeoutMs;
  } catch {
    return timeoutMs;
  }
}

/** Loads the received request that an attempt forwards, and keeps a storage error for `faultOf`. */
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

  /** Returns the storage error that made the attempt fail. Null if the target or the adapter caused the failure. */
  faultOf(end: unknown): Error | null {
    return this.fault ?? (this.isAwaited && end instanceof DeadlinePassed ? end : null);
  }
}

const ERRORS: ReadonlySet<unknown> = new Set<AttemptError>(ATTEMPT_ERRORS);
const MEANINGS: ReadonlySet<unknown> = new Set<Outcome | undefined>([...OUTCOMES, undefined]);

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

/**
 * Returns whether a duration is valid. The caller replaces an invalid duration: failing the attempt would send the
 * delivery again.
 */
function isDuration(value: unknown, max: number): value is number {
  return typeof value === 'number' && value >= 0 && value <= max;
}
