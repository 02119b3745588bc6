import { Injectable } from '@nestjs/common';
import type { Target } from '#modules/destinations/contract.js';
import { Cache } from '#kernel/cache.js';
import { Clock } from '#kernel/clock.js';
import type { Id } from '#kernel/ids.js';
import { Notifications } from '#kernel/notifications.js';
import { DestinationSecrets } from './destination-secrets.js';
import { DestinationsStore } from './destinations.store.js';
import { targetOf } from './target.js';

const ENTRIES_MAX = 10_000;

/** The targets of stored destinations, from a cache by environment and id. */
@Injectable()
export class DestinationTargets {
  private readonly cache: Cache<Target | null>;

  constructor(
    private readonly store: DestinationsStore,
    private readonly secrets: DestinationSecrets,
    notifications: Notifications,
    clock: Clock,
  ) {
    this.cache = new Cache((key) => this.load(key), { entriesMax: ENTRIES_MAX, nowMs: () => clock.nowMs() });
    notifications.on('destination', (key) => (key === '*' ? this.cache.clear() : this.cache.drop(key)));
  }

  /** Null when there is none in this environment. */
  of(environmentId: number, id: Id): Promise<Target | null> {
    return this.cache.get(`${environmentId}:${id}`);
  }

  private async load(key: string): Promise<Target | null> {
    const colon = key.indexOf(':');
    const row = await this.store.find(Number(key.slice(0, colon)), key.slice(colon + 1));
    return row && targetOf(row, this.secrets.signingKeys(row));
  }
}
