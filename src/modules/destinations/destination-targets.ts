import { Injectable } from '@nestjs/common';
import type { Target } from '#modules/destinations/contract.js';
import { Cache } from '#kernel/cache.js';
import { Clock } from '#kernel/clock.js';
import type { Id } from '#kernel/ids.js';
import { Notifications } from '#kernel/notifications.js';
import { DestinationSecrets } from './destination-secrets.js';
import { DestinationsStore } from './destinations.store.js';
import { HeaderSecrets } from './header-secrets.js';
import { secretNames } from './header-templates.js';
import { targetOf } from './target.js';

const ENTRIES_MAX = 10_000;

/** The targets of stored destinations, from a cache by environment and id. */
@Injectable()
export class DestinationTargets {
  private readonly cache: Cache<Target | null>;
  /** Keys of what was loaded with secrets in its headers: all that a changed secret can concern. */
  private readonly withSecrets = new Set<string>();

  constructor(
    private readonly store: DestinationsStore,
    private readonly secrets: DestinationSecrets,
    private readonly headerSecrets: HeaderSecrets,
    notifications: Notifications,
    clock: Clock,
  ) {
    this.cache = new Cache((key) => this.load(key), { entriesMax: ENTRIES_MAX, nowMs: () => clock.nowMs() });
    notifications.on('destination', (key) => (key === '*' ? this.cache.clear() : this.forget(key)));
    notifications.on('secret', (key) => (key === '*' ? this.cache.clear() : this.forgetSecretsOf(key.slice(0, key.indexOf(':')))));
  }

  /** Null when there is none in this environment. */
  of(environmentId: number, id: Id): Promise<Target | null> {
    return this.cache.get(`${environmentId}:${id}`);
  }

  private async load(key: string): Promise<Target | null> {
    const colon = key.indexOf(':');
    const row = await this.store.find(Number(key.slice(0, colon)), key.slice(colon + 1));
    if (row === null) return null;
    // Noted before the secrets are read: a change in between must find it.
    if (secretNames(row.headers).length > 0) this.withSecrets.add(key);
    return targetOf(row, {
      signingKeys: this.secrets.signingKeys(row),
      credentials: this.secrets.openCredentials(row),
      headers: await this.headerSecrets.resolve(row.environmentId, row.headers),
    });
  }

  private forget(key: string): void {
    this.cache.drop(key);
    this.withSecrets.delete(key);
  }

  private forgetSecretsOf(environmentId: string): void {
    for (const key of this.withSecrets) if (key.startsWith(`${environmentId}:`)) this.forget(key);
  }
}
