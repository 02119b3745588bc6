import { Injectable } from '@nestjs/common';
import { Every } from '#kernel/concurrency/every.js';
import type { LoopDelay } from '#kernel/concurrency/loop.js';
import { IdempotencyStore } from './idempotency.store.js';

const EVERY_MS = 60_000;
const STEP = 5_000;

/** Deletes expired idempotency keys in batches. Every process does this. */
@Injectable()
export class ExpiredKeys {
  constructor(private readonly idempotency: IdempotencyStore) {}

  @Every(EVERY_MS, { name: 'Idempotency key sweep', removesByAge: true })
  async purge(): Promise<LoopDelay> {
    return { restMs: (await this.idempotency.purgeExpired(STEP)) === STEP ? 0 : EVERY_MS };
  }
}
