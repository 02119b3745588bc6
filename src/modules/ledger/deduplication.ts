import { Injectable, type OnApplicationShutdown } from '@nestjs/common';
import type { IdempotentRequest, StoredAnswer } from '#kernel/idempotency.js';
import { AcceptGroup } from './accept-group.js';
import { type DuplicateRequest } from './deduplication.contract.js';
import { DeduplicationStore } from './deduplication.store.js';
import { Partitions } from './partitions.js';

/** Deduplication in PostgreSQL. Duplicates have their own group commit, so that they do not delay new events. */
@Injectable()
export class Deduplication implements OnApplicationShutdown {
  private readonly group: AcceptGroup<DuplicateRequest>;

  constructor(
    private readonly store: DeduplicationStore,
    partitions: Partitions,
  ) {
    this.group = new AcceptGroup<DuplicateRequest>(partitions, null, {
      what: 'Storing duplicates',
      weighBytes: ({ request }) => request.sizeBytes,
      backlogMax: 10_000,
      backlogBytesMax: 64 * 1024 * 1024,
      store: async (duplicates) => {
        await this.store.insert(duplicates);
        return () => duplicates.map(() => undefined);
      },
    });
  }

  /** Returns null if there was no first request with this key, or if the key has expired. */
  findAnswer(request: IdempotentRequest): Promise<StoredAnswer | null> {
    return this.store.findAnswer(request);
  }

  /** Resolves once the duplicate is committed. Throws 503 while storage is unavailable; the provider may then retry. */
  record(repeat: DuplicateRequest): Promise<void> {
    return this.group.add(repeat);
  }

  async onApplicationShutdown(): Promise<void> {
    await this.group.drained();
  }
}
