import type { KeyObject } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { DKIM_SELECTORS, type DkimPublicKey } from '#engine/mail/dns-records.js';
import { Clock } from '#kernel/clock.js';
import { STALENESS_MAX_MS } from '#kernel/concurrency/cache.js';
import { sealedIn, Vault } from '#kernel/crypto/vault.js';
import { Notifications } from '#kernel/database/notifications.js';
import type { DkimKey } from './contract.js';
import { makeKey, privateBytesOf, publicTextOf, readPrivateKey } from './dkim-key-material.js';
import { DkimKeysStore, type StoredDkimKey } from './dkim-keys.store.js';

export interface ListedDkimKey extends DkimPublicKey {
  state: StoredDkimKey['state'];
}

interface Known {
  keys: readonly StoredDkimKey[];
  signing: DkimKey;
}

/** Manages the platform's DKIM keys: one key pair per selector, created when first used, and stored encrypted. */
@Injectable()
export class DkimKeys {
  private known: Promise<Known> | null = null;
  private knownUntilMs = 0;

  constructor(
    private readonly store: DkimKeysStore,
    private readonly vault: Vault,
    private readonly notifications: Notifications,
    private readonly clock: Clock,
  ) {
    notifications.on('dkim', () => (this.known = null));
  }

  /** Returns the signing key, from a cache that is at most five seconds old. */
  async signing(): Promise<DkimKey> {
    return (await this.current()).signing;
  }

  /** Returns the public keys, ordered by selector. */
  async published(): Promise<readonly ListedDkimKey[]> {
    return (await this.current()).keys.map(({ selector, publicKey, state }) => ({ selector, publicKey, state }));
  }

  /**
   * Creates a key for the selector that is not in use, and returns its public key. Call `promote` after publishing it.
   */
  async prepareNext(): Promise<DkimPublicKey> {
    await this.current();
    const made = await makeKey('rsa-2048');
    return this.change(async () => {
      const idle = (await this.store.list()).find(({ state }) => state !== 'current');
      if (idle === undefined) throw new Error('There is no second DKIM key.');
      const next = this.sealed(idle.selector, made, 'next');
      await this.store.put(next);
      return { selector: next.selector, publicKey: next.publicKey };
    });
  }

  promote(selector: string): Promise<void> {
    return this.change(() => this.store.makeCurrent(selector));
  }

  private change<T>(work: () => Promise<T>): Promise<T> {
    return this.store.locked(async () => {
      const done = await work();
      await this.notifications.announce('dkim', '*');
      return done;
    });
  }

  private current(): Promise<Known> {
    const nowMs = this.clock.monotonicMs();
    if (this.known !== null && nowMs < this.knownUntilMs) return this.known;
    const known = this.load();
    this.known = known;
    this.knownUntilMs = nowMs + STALENESS_MAX_MS;
    known.catch(() => {
      if (this.known === known) this.known = null;
    });
    return known;
  }

  private async load(): Promise<Known> {
    const stored = await this.store.list();
    const keys = stored.length > 0 ? stored : await this.begin();
    const current = keys.find(({ state }) => state === 'current');
    if (current === undefined) throw new Error('None of the DKIM keys is the current one.');
    const der = this.vault.open(current.privateKey, contextOf(current.selector));
    return { keys, signing: { selector: current.selector, privateKey: readPrivateKey(der, current) } };
  }

  /**
   * Creates the first keys if none are stored. Generates them before taking the lock, because generating takes a
   * second.
   */
  private async begin(): Promise<StoredDkimKey[]> {
    const made = await Promise.all(DKIM_SELECTORS.map(() => makeKey('rsa-2048')));
    return this.store.locked(async () => {
      const before = await this.store.list();
      if (before.length > 0) return before;
      const rows = DKIM_SELECTORS.map((selector, i) =>
        this.sealed(selector, made[i] as KeyObject, i === 0 ? 'current' : 'idle'),
      );
      for (const row of rows) await this.store.put(row);
      return rows;
    });
  }

  private sealed(selector: string, key: KeyObject, state: StoredDkimKey['state']): StoredDkimKey {
    const privateKey = this.vault.seal(privateBytesOf(key), contextOf(selector));
    return { selector, publicKey: publicTextOf(key), privateKey, state };
  }
}

function contextOf(selector: string): string {
  return sealedIn({ table: 'dkim_keys', environmentId: 0, id: selector, column: 'private_key' });
}
