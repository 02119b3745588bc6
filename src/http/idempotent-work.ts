import { Injectable } from '@nestjs/common';
import { Database } from '#kernel/database/database.js';
import type { IdempotentRequest, StoredAnswer } from '#kernel/idempotency.js';
import { IdempotencyStore, LEASE_MS, type Reservation } from './idempotency.store.js';
import { IdempotencyReleaseRetry } from './idempotency-release-retry.js';

/** Renewal interval: a third of the lease, so that two renewals in a row may fail. */
const RENEW_MS = LEASE_MS / 3;

/**
 * Runs work once per idempotency key. The response and the effect of the work commit in one transaction. A crash before
 * the commit leaves only a reservation, whose lease expires.
 */
@Injectable()
export class IdempotentWork {
  constructor(
    private readonly idempotency: IdempotencyStore,
    private readonly database: Database,
    private readonly givenBack: IdempotencyReleaseRetry,
  ) {}

  /**
   * Runs `work` and stores its response for the key. In an open transaction, the response commits with that
   * transaction. Throws `AlreadyAnswered` if the key has a response. Throws 409 if another request with the key had
   * another body or is still running.
   */
  async run(
    request: IdempotentRequest,
    work: (reservation: Reservation) => Promise<StoredAnswer>,
  ): Promise<StoredAnswer> {
    const reservation = await this.idempotency.reserve(request);
    // Ignores a failed renewal. If the lease expires and another request takes over the key, only that request can
    // commit its changes.
    const renewal = setInterval(() => void this.idempotency.renew(reservation).catch(() => undefined), RENEW_MS);
    try {
      return await this.completed(reservation, work);
    } catch (error) {
      await this.release(reservation);
      throw error;
    } finally {
      clearInterval(renewal);
    }
  }

  private completed(
    reservation: Reservation,
    work: (reservation: Reservation) => Promise<StoredAnswer>,
  ): Promise<StoredAnswer> {
    const run = async (): Promise<StoredAnswer> => {
      const answer = await work(reservation);
      await this.database.transaction(() => this.idempotency.complete(reservation, answer));
      return answer;
    };
    return this.database.isInTransaction() ? run() : this.database.unitOfWork(run);
  }

  /** Releases the key after a rollback. If the storage is unavailable, retries in the background. */
  private async release(reservation: Reservation): Promise<void> {
    try {
      await this.idempotency.release(reservation);
    } catch {
      this.givenBack.enqueue(reservation);
    }
  }
}
