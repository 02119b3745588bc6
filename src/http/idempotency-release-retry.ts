import { Injectable } from '@nestjs/common';
import { Clock } from '#kernel/clock.js';
import { BackgroundJobs } from '#kernel/concurrency/background-jobs.js';
import { Every } from '#kernel/concurrency/every.js';
import { IdempotencyStore, LEASE_MS, type Reservation } from './idempotency.store.js';

const EVERY_MS = 60_000;
/**
 * Maximum number of keys that wait for their release. Exceeds the number of requests in flight. Further keys stay
 * locked until their lease ends.
 */
const KEYS_MAX = 10_000;

/** Retries failed releases of idempotency keys. Without a release, callers would get 409 until the lease ends. */
@Injectable()
export class IdempotencyReleaseRetry {
  /** Reserved idempotency keys to release, with the end of their leases on the monotonic clock. */
  private readonly waiting = new Map<Reservation, number>();

  constructor(
    private readonly idempotency: IdempotencyStore,
    private readonly jobs: BackgroundJobs,
    private readonly clock: Clock,
  ) {}

  enqueue(reservation: Reservation): void {
    if (this.waiting.size >= KEYS_MAX) return;
    this.waiting.set(reservation, this.clock.monotonicMs() + LEASE_MS);
    this.jobs.wake(this);
  }

  @Every(EVERY_MS, { name: 'Idempotency release retry' })
  async releaseAll(): Promise<void> {
    for (const [reservation, endsMs] of this.waiting) {
      if (this.clock.monotonicMs() < endsMs) await this.idempotency.release(reservation);
      this.waiting.delete(reservation);
    }
  }
}
