import { Injectable } from '@nestjs/common';
import { isStorageAway } from '#kernel/database/database.js';
import { conflict, unavailable } from '#kernel/errors.js';
import { AlreadyAnswered, type IdempotentRequest } from '#kernel/idempotency.js';
import type { NewEvent } from './accept.contract.js';
import { AcceptStore } from './accept.store.js';

/** Requests with idempotency keys that accept: the first one of a key runs, the later ones are told why they don't. */
@Injectable()
export class IdempotentRequests {
  /** Keys whose first request is in this process right now. */
  private readonly inFlight = new Set<string>();

  constructor(private readonly store: AcceptStore) {}

  /** Runs `work` unless a request with the same key runs here: that rejects with 409. */
  hold(request: IdempotentRequest | null, work: () => Promise<void>): Promise<void> {
    return request === null ? work() : this.alone(request, work);
  }

  /** With as few promises as do: every request with a key comes by. */
  private alone(request: IdempotentRequest, work: () => Promise<void>): Promise<void> {
    const scope = `${request.environmentId} ${request.key} ${request.route}`;
    if (this.inFlight.has(scope)) return Promise.reject(inFlight());
    const done = work();
    // Not before: what throws at once is not in flight. Nobody else comes between.
    this.inFlight.add(scope);
    const over = (): void => void this.inFlight.delete(scope);
    done.then(over, over);
    return done;
  }

  /** What each of a group is told when those at the positions `stored` went in: nothing, or what the first request with its key was. */
  async outcomes(
    items: readonly Pick<NewEvent, 'idempotency'>[],
    stored: Set<number> | 'all',
  ): Promise<(void | Error)[]> {
    if (stored === 'all') return items.map(() => undefined);
    return Promise.all(
      items.map(async ({ idempotency }, i) =>
        stored.has(i) || !idempotency ? undefined : this.answered(idempotency.request),
      ),
    );
  }

  /** What the second request with a key is told. Never throws: those that were stored with it must hear that they were. */
  private async answered(request: IdempotentRequest): Promise<Error> {
    try {
      return await this.known(request);
    } catch (error) {
      return isStorageAway(error)
        ? unavailable('Storage is not reachable. Send it again: the same key repeats its first answer.')
        : (error as Error);
    }
  }

  private async known(request: IdempotentRequest): Promise<Error> {
    const known = await this.store.answerOf(request);
    if (!known) return inFlight();
    if (!known.fingerprint.equals(request.fingerprint)) {
      return conflict('This Idempotency-Key was used with another body. Use a new key for a new request.', {
        reason: 'key_reused',
      });
    }
    if (known.status === null || known.body === null) return inFlight();
    return new AlreadyAnswered({ status: known.status, body: known.body });
  }
}

function inFlight(): Error {
  const error = conflict('The first request with this Idempotency-Key is still running. Try again shortly.', {
    reason: 'in_flight',
  });
  return Object.assign(error, { retryAfterSeconds: 1 });
}
