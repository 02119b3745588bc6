import { Injectable, type OnApplicationShutdown } from '@nestjs/common';
import type { IdempotentRequest, StoredAnswer } from '#kernel/idempotency.js';
import { AcceptGroup } from './accept-group.js';
import { Deduplication, type DuplicateRequest } from './deduplication.contract.js';
import { DeduplicationStore } from './deduplication.store.js';
import { Partitions } from './partitions.js';

/** Deduplication in PostgreSQL. Duplicates have their own group commit, so that they do not delay new events. */
@Injectable()
export class StoredDeduplication extends Deduplication implements OnApplicationShutdown {
  private readonly group: AcceptGroup<DuplicateRequest>;

  constructor(
    private readonly store: DeduplicationStore,
    partitions: Partitions,
  ) {
    super();
    this.group = new AcceptGroup<DuplicateRequest>(partitions, null, {
      what: 'Keeping repeats',
      weighBytes: ({ request }) => request.sizeBytes,
      backlogMax: 10_000,
      backlogBytesMax: 64 * 1024 * 1024,
      store: async (repeats) => {
        await this.store.insert(repeats);
        return () => repeats.map(() => undefined);
      },
    });
  }

  override findAnswer(request: IdempotentRequest): Promise<StoredAnswer | null> {
    return this.store.findAnswer(request);
  }

  override record(repeat: DuplicateRequest): Promise<void> {
    return this.group.add(repeat);
  }

  async onApplicationShutdown(): Promise<void> {
    await this.group.drained();
  }
}
