import { Injectable } from '@nestjs/common';
import { Clock } from '#kernel/clock.js';
import { Cache } from '#kernel/concurrency/cache.js';
import { Vault } from '#kernel/crypto/vault.js';
import { Notifications } from '#kernel/database/notifications.js';
import { noSuch } from '#kernel/errors.js';
import { type CatalogOwner, type Environment } from '#modules/auth/contract.js';
import type { EnvironmentEntity } from '../auth.entities.js';
import { OrganizationsStore } from '../organizations/own-organization.store.js';
import { currentKey, previousKey } from './signing-secret.js';

interface Known {
  environment: Environment;
  current: readonly Buffer[];
  /** The current and the previous signing key. Both sign during the grace period of a rotation. */
  both: readonly Buffer[];
  graceUntilMs: number;
}

const ENTRIES_MAX = 10_000;

/** Caches environments. A change invalidates the cache on every node. */
@Injectable()
export class Environments {
  private readonly cache: Cache<Known>;

  constructor(
    private readonly store: OrganizationsStore,
    private readonly vault: Vault,
    notifications: Notifications,
    private readonly clock: Clock,
  ) {
    this.cache = new Cache((id) => this.load(Number(id)), { entriesMax: ENTRIES_MAX, nowMs: () => clock.nowMs() });
    notifications.on('environment', (id) => (id === '*' ? this.cache.clear() : this.cache.drop(id)));
  }

  /** Returns the environment. Throws 404 if there is no such environment. */
  async get(environmentId: number): Promise<Environment> {
    return (await this.cache.get(String(environmentId))).environment;
  }

  /** Returns the cached environment, or `undefined` if it is not in the cache. */
  known(environmentId: number): Environment | undefined {
    return this.cache.known(String(environmentId))?.environment;
  }

  /** Returns the keys that sign deliveries to ad-hoc URLs, newest first: two during the grace period of a rotation. */
  async signingKeys(environmentId: number): Promise<readonly Buffer[]> {
    const known = await this.cache.get(String(environmentId));
    return known.graceUntilMs > this.clock.nowMs() ? known.both : known.current;
  }

  /**
   * Returns the environment of a public event catalog. Always reads the database, because catalog pages have their own
   * cache.
   */
  catalogOwner(organizationSlug: string, mode: Environment['mode']): Promise<CatalogOwner | null> {
    return this.store.catalogOwner(organizationSlug, mode);
  }

  /** Returns the distinct retention periods of all environments, in days. Never empty. */
  retentions(): Promise<number[]> {
    return this.store.retentions();
  }

  private async load(environmentId: number): Promise<Known> {
    const row = await this.store.findEnvironment(environmentId);
    if (row === null) throw noSuch('environment');
    const { slug } = await this.store.find(row.organizationId);
    const current = currentKey(this.vault, row);
    const previous = previousKey(this.vault, row);
    return {
      environment: environment(row, slug),
      current: [current],
      both: previous === null ? [current] : [current, previous],
      graceUntilMs: row.previousSecretUntil?.getTime() ?? -Infinity,
    };
  }
}

function environment(
  { id, organizationId, mode, retentionDays, systemDestinationId }: EnvironmentEntity,
  organizationSlug: string,
): Environment {
  return { environmentId: id, organizationId, organizationSlug, mode, retentionDays, systemDestinationId };
}
