import { Injectable, type OnApplicationBootstrap, type OnApplicationShutdown } from '@nestjs/common';
import { Clock } from '#kernel/clock.js';
import { HOUSEKEEPING, Loop } from '#kernel/concurrency/loop.js';
import { IdempotencyStore, LEASE_MS, type Reservation } from './idempotency.store.js';

const EVERY_MS = 60_000;
/** More than one process has in flight. Beyond this, leases simply expire. */
const KEYS_MAX = 10_000;

/** For failures during a storage outage: a retry would get 409 "still running" until the lease expires. */
@Injectable()
export class IdempotencyReleaseRetry implements OnApplicationBootstrap, OnApplicationShutdown {
  private readonly loop: Loop;
  /** With the end of their leases on the monotonic clock. */
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
