import { Injectable, type OnApplicationBootstrap, type OnApplicationShutdown } from '@nestjs/common';
import { Notifications } from '#kernel/database/notifications.js';
import { AnnouncedCopy } from './announced-copy.js';
import { DomainsStore } from './domains.store.js';

/** Caches the paused domains of the installation, so that checking a sender needs no query. */
@Injectable()
export class PausedDomains implements OnApplicationBootstrap, OnApplicationShutdown {
  private readonly keys: AnnouncedCopy<ReadonlySet<string>>;

  constructor(store: DomainsStore, notifications: Notifications) {
    this.keys = new AnnouncedCopy<ReadonlySet<string>>(notifications, {
      topic: 'paused_domain',
      subject: 'The paused domains',
      initial: new Set(),
      load: async () => new Set((await store.paused()).map(keyOf)),
    });
  }

  get count(): number {
    return this.keys.value.size;
  }

  /** Returns whether the domain is paused. `host` is in lower case, in A-labels. */
  has(environmentId: number, host: string): boolean {
    return this.count > 0 && this.keys.value.has(keyOf({ environmentId, host }));
  }

  /** Loads the paused domains before the first delivery. */
  onApplicationBootstrap(): Promise<void> {
    return this.keys.start();
  }

  onApplicationShutdown(): void {
    this.keys.stop();
  }
}

function keyOf({ environmentId, host }: { environmentId: number; host: string }): string {
  return `${environmentId} ${host}`;
}
