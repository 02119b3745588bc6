import { Injectable } from '@nestjs/common';
import { isStorageAway } from '#kernel/database/database.js';
import { conflict, unavailable } from '#kernel/errors.js';
import { AlreadyAnswered, type IdempotentRequest } from '#kernel/idempotency.js';
import type { NewEvent } from './accept.contract.js';
import { AcceptStore } from './accept.store.js';

/** Runs only the first request with an idempotency key. Rejects later requests with the same key. */
@Injectable()
export class IdempotentRequests {
  private readonly inFlight = new Set<string>();

  constructor(private readonly store: AcceptStore) {}

  /** Runs `work`. Rejects with 409 if a request with the same key is already in flight in this process. */
  hold(request: IdempotentRequest | null, work: () => Promise<void>): Promise<void> {
    return request === null ? work() : this.alone(request, work);
  }

  /**
   * Runs `work`, or rejects with 409 if the key is in use. Creates few promises for speed, because it runs for many
   * requests.
   */
  private alone(request: IdempotentRequest, work: () => Promise<void>): Promise<void> {
    const scope = `${request.environmentId} ${request.key} ${request.route}`;
    if (this.inFlight.has(scope)) return Promise.reject(inFlight());
    const done = work();
    // The key is added after the call, so that a request that fails synchronously is not recorded as in flight. No
    // other request can run in between, because both lines run synchronously.
    this.inFlight.add(scope);
    const over = (): void => void this.inFlight.delete(scope);
    done.then(over, over);
    return done;
  }

  /** Returns a group's results: undefined for positions in `stored`, an error for items whose key is in use. */
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

  /** Returns errors instead of throwing, so that the stored items of the group still get their result. */
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
