import { Injectable } from '@nestjs/common';
import { Clock } from '#kernel/clock.js';
import { Cache } from '#kernel/concurrency/cache.js';
import { sealedIn, Vault } from '#kernel/crypto/vault.js';
import { Notifications } from '#kernel/database/notifications.js';
import { type SealedSecret, SecretsStore } from './secrets.store.js';

/** Maximum number of cached values. They take at most 16 MB of memory, because a value has at most 16 KB. */
const ENTRIES_MAX = 1_000;

/** Caches secret values by environment and name. A change evicts them on every node. Only this class decrypts them. */
@Injectable()
export class SealedSecrets {
  private readonly cache: Cache<string | null>;

  constructor(
    private readonly store: SecretsStore,
    private readonly vault: Vault,
    notifications: Notifications,
    clock: Clock,
  ) {
    this.cache = new Cache((key) => this.load(key), { entriesMax: ENTRIES_MAX, nowMs: () => clock.nowMs() });
    notifications.on('secret', (key) => (key === '*' ? this.cache.clear() : this.cache.drop(key)));
  }

  /** Returns values that are at most five seconds old on every node. The result omits names that do not exist. */
  async resolve(environmentId: number, names: readonly string[]): Promise<ReadonlyMap<string, string>> {
    const values = new Map<string, string>();
    for (const name of new Set(names)) {
      const value = await this.cache.get(`${environmentId}:${name}`);
      if (value !== null) values.set(name, value);
    }
    return values;
  }

  /** Returns the current values in the caller's transaction, for checks that must still hold when it commits. */
  async current(environmentId: number, names: readonly string[]): Promise<ReadonlyMap<string, string>> {
    const rows = names.length > 0 ? await this.store.values(environmentId, names) : [];
    return new Map(rows.map((row) => [row.name, this.open(row)]));
  }

  seal(place: Pick<SealedSecret, 'environmentId' | 'id'>, value: string): Buffer {
    return this.vault.seal(value, contextOf(place));
  }

  private async load(key: string): Promise<string | null> {
    const colon = key.indexOf(':');
    const name = key.slice(colon + 1);
    return (await this.current(Number(key.slice(0, colon)), [name])).get(name) ?? null;
  }

  private open(row: SealedSecret): string {
    return this.vault.open(row.value, contextOf(row)).toString();
  }
}

function contextOf({ environmentId, id }: Pick<SealedSecret, 'environmentId' | 'id'>): string {
  return sealedIn({ table: 'secrets', environmentId, id, column: 'value' });
}
