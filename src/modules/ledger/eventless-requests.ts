import { Injectable, type OnApplicationShutdown } from '@nestjs/common';
import { AcceptGroup } from './accept-group.js';
import type { EventlessRequest } from './eventless-requests.contract.js';
import { EventlessRequestsStore } from './eventless-requests.store.js';
import { Partitions } from './partitions.js';

/**
 * Stores requests that create no event. Commits these requests in separate groups, so that they do not delay new
 * events.
 */
@Injectable()
export class EventlessRequests implements OnApplicationShutdown {
  private readonly group: AcceptGroup<EventlessRequest>;

  constructor(store: EventlessRequestsStore, partitions: Partitions) {
    this.group = new AcceptGroup<EventlessRequest>(partitions, null, {
      what: 'Storing requests without events',
      weighBytes: ({ request }) => request.body?.length ?? 0,
      backlogMax: 10_000,
      backlogBytesMax: 64 * 1024 * 1024,
      store: async (requests) => {
        await store.insert(requests);
        return () => requests.map(() => undefined);
      },
    });
  }

  /**
   * Resolves once the request is committed. Throws 503 while storage is unavailable, so that the provider can retry.
   */
  record(request: EventlessRequest): Promise<void> {
    return this.group.add(request);
  }

  async onApplicationShutdown(): Promise<void> {
    await this.group.drained();
  }
}
