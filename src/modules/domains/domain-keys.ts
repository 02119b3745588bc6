import type { KeyObject } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { afterKeysFound, type DkimAlgorithm, freeSelectors, isNeeded } from '#engine/mail/domain-keys.js';
import { Clock } from '#kernel/clock.js';
import { Cache } from '#kernel/concurrency/cache.js';
import { sealedIn, Vault } from '#kernel/crypto/vault.js';
import { conflict, unavailable } from '#kernel/errors.js';
import type { Id } from '#kernel/ids.js';
import type { SigningKeys } from './contract.js';
import { makeKey, privateBytesOf, publicTextOf, readPrivateKey } from './dkim-key-material.js';
import { DomainKeysStore } from './domain-keys.store.js';
import type { DomainDkimKeyEntity, DomainEntity } from './domains.entities.js';
import type { DomainColumns, DomainPlace } from './domains.store.js';

/** A generated key that is not stored yet. */
export interface GeneratedKey {
  algorithm: DkimAlgorithm;
  privateKey: KeyObject;
}

const ENTRIES_MAX = 1_000;

/** Manages the DKIM keys that belong to one domain only. Their private keys are stored encrypted. */
@Injectable()
export class DomainKeys {
  private readonly cache: Cache<SigningKeys>;

  constructor(
    private readonly store: DomainKeysStore,
    private readonly vault: Vault,
    private readonly clock: Clock,
  ) {
    this.cache = new Cache((place) => this.load(place), {
      entriesMax: ENTRIES_MAX,
      nowMs: () => clock.nowMs(),
      // Cached keys never expire: the version is part of the cache key, and the DKIM keys of a version never change.
      confirmedUntilMs: () => clock.nowMs(),
    });
  }

  /**
   * Returns the keys that sign a domain's mail. `version` is the domain's version, which changes with the keys. Throws
   * 503 if the keys have just changed, because the DNS records of the old keys may already be removed.
   */
  signing(environmentId: number, domainId: Id, version: number): Promise<SigningKeys> {
    return this.cache.get(`${environmentId}:${domainId}:${version}`);
  }

  ofDomain({ environmentId, id }: DomainPlace): Promise<DomainDkimKeyEntity[]> {
    return this.store.ofDomains(environmentId, [id]);
  }

  ofDomains(environmentId: number, domainIds: readonly Id[]): Promise<DomainDkimKeyEntity[]> {
    return domainIds.length === 0 ? Promise.resolve([]) : this.store.ofDomains(environmentId, domainIds);
  }

  /** Generates and returns keys. Takes up to a second, so it must be called outside of a transaction. */
  generate(algorithms: readonly DkimAlgorithm[]): Promise<GeneratedKey[]> {
    return Promise.all(algorithms.map(async (algorithm) => ({ algorithm, privateKey: await makeKey(algorithm) })));
  }

  /**
   * Returns the domain's keys with the generated keys added as pending keys. Older pending keys are replaced. Throws
   * 409 while mail that was signed with the keys from before the last rotation may be in transit.
   */
  withPending(
    place: DomainPlace,
    keys: readonly DomainDkimKeyEntity[],
    generated: readonly GeneratedKey[],
    graceSeconds: number,
  ): DomainDkimKeyEntity[] {
    const nowMs = this.clock.nowMs();
    const algorithms = generated.map(({ algorithm }) => algorithm);
    const free = freeSelectors(keys, algorithms, nowMs);
    if ('occupiedUntil' in free) {
      const until = free.occupiedUntil.toISOString();
      throw conflict(
        `Mail that the previous key signed may be in transit until ${until}. Until then, its record must stay published, and no other key can take its selector.`,
        { required_until: until },
      );
    }
    return [
      ...keys.filter((key) => key.state !== 'pending' && isNeeded(key, nowMs)),
      ...generated.map((each) => this.pending(place, free.selectors.get(each.algorithm) as string, each, graceSeconds)),
    ];
  }

  /** Replaces the domain's keys. The caller must hold the lock on the domain's row. */
  async replace({ environmentId, id }: DomainPlace, keys: readonly DomainDkimKeyEntity[]): Promise<void> {
    await this.store.removeAll(environmentId, id);
    await this.store.insertAll(keys);
  }

  /**
   * Applies the result of a check that found the DNS records of the selectors in `found`. If all pending keys were
   * found, they start to sign. Deletes keys whose records are no longer required. Returns the domain's changed columns.
   * The caller must hold the lock on the domain's row.
   */
  async recordFound(row: DomainEntity, found: ReadonlySet<string>, nowMs: number): Promise<DomainColumns> {
    const keys = await this.ofDomain(row);
    const change = afterKeysFound(row, keys, found, nowMs);
    const kept = (change?.keys ?? keys).filter((key) => isNeeded(key, nowMs));
    if (change !== null || kept.length < keys.length) await this.replace(row, kept);
    return change === null ? {} : { ...change.signer, version: row.version + 1 };
  }

  private pending(
    { environmentId, id }: DomainPlace,
    selector: string,
    { algorithm, privateKey }: GeneratedKey,
    graceSeconds: number,
  ): DomainDkimKeyEntity {
    const place = { environmentId, domainId: id, selector };
    return {
      ...place,
      algorithm,
      publicKey: publicTextOf(privateKey),
      privateKey: this.vault.seal(privateBytesOf(privateKey), contextOf(place)),
      state: 'pending',
      graceSeconds,
      createdAt: this.clock.now(),
      requiredUntil: null,
    };
  }

  private async load(place: string): Promise<SigningKeys> {
    const [environmentId, domainId] = place.split(':');
    const rows = await this.store.ofDomains(Number(environmentId), [domainId as Id]);
    const keyOf = (algorithm: DkimAlgorithm): SigningKeys | undefined => {
      const row = rows.find((each) => each.algorithm === algorithm && each.state === 'signing');
      if (row === undefined) return undefined;
      const der = this.vault.open(row.privateKey, contextOf(row));
      return { selector: row.selector, privateKey: readPrivateKey(der, row) };
    };
    const rsa = keyOf('rsa-2048');
    if (rsa === undefined) throw unavailable("The domain's DKIM keys were changed just now. Send the request again.");
    const ed25519 = keyOf('ed25519');
    return ed25519 === undefined ? rsa : { ...rsa, ed25519 };
  }
}

function contextOf({
  environmentId,
  domainId,
  selector,
}: Pick<DomainDkimKeyEntity, 'environmentId' | 'domainId' | 'selector'>): string {
  return sealedIn({
    table: 'domain_dkim_keys',
    environmentId,
    id: `${domainId} ${selector}`,
    column: 'private_key',
  });
}
