import { Injectable } from '@nestjs/common';
import { Every } from '#kernel/concurrency/every.js';
import { SuppressionsStore } from './suppressions.store.js';

const EVERY_MS = 3_600_000;

/** Deletes expired suppressions. An expired suppression has no effect, even before it is deleted. */
@Injectable()
export class SuppressionSweep {
  constructor(private readonly store: SuppressionsStore) {}

  @Every(EVERY_MS, { name: 'Suppression sweep', runsOn: 'worker', removesByAge: true })
  async sweep(): Promise<void> {
    await this.store.forget();
  }
}
