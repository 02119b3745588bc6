import { Injectable } from '@nestjs/common';
import { isStorageAway } from '#kernel/database.js';
import { conflict, unavailable } from '#kernel/errors.js';
import { AlreadyAnswered, type Once } from '#kernel/idempotency.js';
import { AcceptStore } from './accept.store.js';

/** Requests with idempotency keys that accept: the first one of a key runs, the later ones are told why they don't. */
@Injectable()
export class FirstRequests {
  /** Keys whose first request is in this process right now. */
  private readonly inFlight = new Set<string>();

  constructor(private readonly store: AcceptStore) {}

  /** Runs `work` unless a request with the same key runs here: that throws 409. */
  async hold(once: Once | null, work: () => Promise<void>): Promise<void> {
    if (once === null) return work();
    const scope = `${once.environmentId} ${once.route} ${once.key}`;
    if (this.inFlight.has(scope)) throw inFlight();
    this.inFlight.add(scope);
    try {
      await work();
    } finally {
      this.inFlight.delete(scope);
    }
  }

  /** What the second request with a key is told. Never throws: those that were stored with it must hear that they were. */
  async answered(once: Once): Promise<Error> {
    try {
      return await this.known(once);
    } catch (error) {
      return isStorageAway(error) ? unavailable('Storage is not reachable. Send it again: the same key repeats its first answer.') : (error as Error);
    }
  }

  private async known(once: Once): Promise<Error> {
    const known = await this.store.answerOf(once);
    if (!known) return inFlight();
    if (!known.fingerprint.equals(once.fingerprint)) {
      return conflict('This Idempotency-Key was used with another body. Use a new key for a new request.', {
        reason: 'key_reused',
      });
    }
    if (known.status === null || known.body === null) return inFlight();
    return new AlreadyAnswered({ status: known.status, body: known.body });
  }
}

function inFlight(): Error {
  const error = conflict('The first request with this Idempotency-Key is still running. Try again shortly.', { reason: 'in_flight' });
  return Object.assign(error, { retryAfterSeconds: 1 });
}
