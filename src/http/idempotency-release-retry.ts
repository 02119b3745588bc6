import { Injectable, type OnApplicationBootstrap, type OnApplicationShutdown } from '@nestjs/common';
import { Clock } from '#kernel/clock.js';
import { HOUSEKEEPING, Loop } from '#kernel/concurrency/loop.js';
import { IdempotencyStore, LEASE_MS, type Reservation } from './idempotency.store.js';

const EVERY_MS = 60_000;
/** More than the requests that one process has under way; the lease of any beyond it ends by itself. */
const KEYS_MAX = 10_000;

/**
 * Gives back the keys of requests that failed because storage was away, as soon as it is there again: whoever was told
 * to send the request again, and does, would otherwise hear until the lease ends that the first one still runs.
 */
@Injectable()
export class IdempotencyReleaseRetry implements OnApplicationBootstrap, OnApplicationShutdown {
  private readonly loop: Loop;
  /** And until when their leases last, by the monotonic clock. */
  private readonly waiting = new Map<Reservation, number>();

  constructor(
    private readonly idempotency: IdempotencyStore,
    private readonly clock: Clock,
  ) {
    this.loop = new Loop(
      'KeysGivenBack',
      () => this.releaseAll(),
      () => clock.nowMs(),
      HOUSEKEEPING,
    );
  }

  onApplicationBootstrap(): void {
    this.loop.start();
  }

  async onApplicationShutdown(): Promise<void> {
    await this.loop.stop();
  }

  /** Takes over a reservation that could not be released. */
  enqueue(reservation: Reservation): void {
    if (this.waiting.size >= KEYS_MAX) return;
    this.waiting.set(reservation, this.clock.monotonicMs() + LEASE_MS);
    this.loop.wake();
  }

  private async releaseAll(): Promise<{ restMs: number }> {
    for (const [reservation, endsMs] of this.waiting) {
      if (this.clock.monotonicMs() < endsMs) await this.idempotency.release(reservation);
      this.waiting.delete(reservation);
    }
    return { restMs: EVERY_MS };
  }
}
