import { Injectable } from '@nestjs/common';
import { Clock } from '#kernel/clock.js';
import { Cache } from '#kernel/concurrency/cache.js';
import { isStorageAway } from '#kernel/database/database.js';
import { Notifications } from '#kernel/database/notifications.js';
import { ApiError, unavailable } from '#kernel/errors.js';
import type { Id } from '#kernel/ids.js';
import type { Target } from '#modules/destinations/contract.js';
import { DestinationSecrets } from './destination-secrets.js';
import type { DestinationEntity } from './destinations.entities.js';
import { DestinationsStore } from './destinations.store.js';
import { HeaderSecrets } from './header-secrets.js';
import { secretNames } from './header-templates.js';
import { RetryPolicies } from './retry-policies.js';
import { targetOf } from './target.js';

/** Pending loads by destination id. One statement reads the rows of all pending loads. */
type Gathering = Map<Id, (rows: Promise<ReadonlyMap<Id, DestinationEntity>>) => void>;

const ENTRIES_MAX = 50_000;

/** Caches the targets of destinations by environment and id. */
@Injectable()
export class DestinationTargets {
  private readonly cache: Cache<Target | null>;
  /** Cache keys of targets with secrets in their headers. A changed secret affects only these targets. */
  private readonly withSecrets = new Set<string>();
  /** Set while `ofAll` reads the cache, so that one statement loads all targets that are missing in the cache. */
  private gathering: Gathering | null = null;

  constructor(
    private readonly store: DestinationsStore,
    private readonly secrets: DestinationSecrets,
    private readonly headerSecrets: HeaderSecrets,
    private readonly retryPolicies: RetryPolicies,
    notifications: Notifications,
    private readonly clock: Clock,
  ) {
    this.cache = new Cache((key) => this.load(key), {
      entriesMax: ENTRIES_MAX,
      nowMs: () => clock.nowMs(),
      confirmedUntilMs: () => notifications.confirmedUntilMs(),
    });
    notifications.on('destination', (key) => (key === '*' ? this.cache.clear() : this.forget(key)));
    notifications.on('secret', (key) =>
      key === '*' ? this.cache.clear() : this.forgetSecretsOf(key.slice(0, key.indexOf(':'))),
    );
  }

  known(environmentId: number, id: Id): Target | null | undefined {
    return this.cache.known(`${environmentId}:${id}`);
  }

  /** Returns the target of a destination, or `null` if this environment has no such destination. */
  find(environmentId: number, id: Id): Promise<Target | null> {
    return this.cache.get(`${environmentId}:${id}`);
  }

  /** Loads uncached targets with one statement. A result is null if the target or one of its secrets does not exist. */
  async ofAll(environmentId: number, ids: readonly Id[]): Promise<(Target | null)[]> {
    const found = this.gathered(environmentId, ids);
    try {
      return await Promise.all(found);
    } catch {
      // A target that cannot be loaded must not affect the other targets.
      return Promise.all(found.map((target) => target.catch(nullWhereRefused)));
    }
  }

  private gathered(environmentId: number, ids: readonly Id[]): Promise<Target | null>[] {
    const gathering: Gathering = new Map();
    this.gathering = gathering;
    try {
      return ids.map((id) => this.find(environmentId, id));
    } finally {
      this.gathering = null;
      if (gathering.size > 0) {
        const rows = this.rowsOf(environmentId, [...gathering.keys()]);
        for (const resolve of gathering.values()) resolve(rows);
      }
    }
  }

  private async rowsOf(environmentId: number, ids: readonly Id[]): Promise<ReadonlyMap<Id, DestinationEntity>> {
    const rows = await this.store.findAll(environmentId, ids).catch((error: unknown) => {
      throw isStorageAway(error) ? unavailable('Storage is not reachable. Try again.') : error;
    });
    return new Map(rows.map((row) => [row.id, row]));
  }

  private async load(key: string): Promise<Target | null> {
    const colon = key.indexOf(':');
    const environmentId = Number(key.slice(0, colon));
    const id = key.slice(colon + 1);
    // Must be read before the first await, because `gathered` sets this field only while it calls `find`.
    const { gathering } = this;
    const rows = gathering
      ? new Promise<ReadonlyMap<Id, DestinationEntity>>((resolve) => gathering.set(id, resolve))
      : this.rowsOf(environmentId, [id]);
    const row = (await rows).get(id);
    if (!row) return null;
    // The cache key is recorded before the secrets are read, so that a concurrent change of a secret also evicts this
    // target.
    if (secretNames(row.headers).length > 0) this.withSecrets.add(key);
    const opened = {
      keys: this.secrets.open(row),
      credentials: this.secrets.openCredentials(row),
      headers: await this.headerSecrets.resolve(row.environmentId, row.headers),
      retry: this.retryPolicies.forSettings(row.retry),
    };
    return targetOf(row, opened, () => this.clock.nowMs());
  }

  private forget(key: string): void {
    this.cache.drop(key);
    this.withSecrets.delete(key);
  }

  private forgetSecretsOf(environmentId: string): void {
    for (const key of this.withSecrets) if (key.startsWith(`${environmentId}:`)) this.forget(key);
  }
}

function nullWhereRefused(error: unknown): null {
  if (error instanceof ApiError && error.type === 'conflict') return null;
  throw error;
}
