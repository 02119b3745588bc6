import { Injectable } from '@nestjs/common';
import {
  algorithmIn,
  algorithmsOf,
  backToPlatform,
  type DomainAlgorithm,
  GRACE_SECONDS_DEFAULT,
  hasOwnKeys,
} from '#engine/mail/domain-keys.js';
import { Clock } from '#kernel/clock.js';
import { Database } from '#kernel/database/database.js';
import { conflict, invalid, noSuch } from '#kernel/errors.js';
import type { Id } from '#kernel/ids.js';
import type { Tenant } from '#kernel/tenant.js';
import { DomainKeys } from './domain-keys.js';
import { DomainRecords } from './domain-records.js';
import type { DomainView } from './domain-view.js';
import type { DomainDkimKeyEntity, DomainEntity } from './domains.entities.js';
import { DomainsService } from './domains.service.js';
import { DomainsStore } from './domains.store.js';

/** The keys that sign the mail of a domain: the platform's key, or keys of the domain. */
export interface DkimChoice {
  mode: 'platform' | 'domain';
  algorithm: DomainAlgorithm;
}

interface FoundDomain {
  row: DomainEntity;
  keys: DomainDkimKeyEntity[];
}

/** Changes the keys that sign the mail of a domain. Mail is signed at all times, even during a change. */
@Injectable()
export class DomainDkim {
  constructor(
    private readonly store: DomainsStore,
    private readonly keys: DomainKeys,
    private readonly records: DomainRecords,
    private readonly domains: DomainsService,
    private readonly database: Database,
    private readonly clock: Clock,
  ) {}

  /**
   * Chooses the keys that sign the domain's mail. The domain's own keys sign once their records are found. The
   * platform's key signs immediately. Throws 404 for an unknown domain, 422 for a webhook domain, and 409 if the DNS
   * records do not allow the change yet.
   */
  async choose({ environmentId }: Tenant, id: Id, { mode, algorithm }: DkimChoice): Promise<DomainView> {
    const found = await this.find(environmentId, id);
    if (found.row.kind === 'webhook')
      throw invalid([{ path: 'dkim', message: 'A webhook domain sends no mail, so it has no DKIM keys.' }]);
    if (mode === 'platform') return this.usePlatform(found);
    return this.addKeys(
      found,
      algorithm,
      GRACE_SECONDS_DEFAULT,
      (keys) => hasOwnKeys(keys) && algorithmIn(keys) === algorithm,
    );
  }

  /**
   * Adds new keys. The current keys sign until the records of the new keys are found. Does nothing if a rotation is in
   * progress. Throws 404 for an unknown domain, and 409 if the platform's key signs. Also throws 409 while mail that
   * was signed with the keys from before the last rotation may be in transit.
   */
  async rotate({ environmentId }: Tenant, id: Id, graceSeconds?: number | null): Promise<DomainView> {
    const found = await this.find(environmentId, id);
    if (!hasOwnKeys(found.keys))
      throw conflict(
        "The platform's key signs the mail of this domain, and the operator rotates that key. Set dkim.mode to `domain` to use keys of the domain.",
      );
    return this.addKeys(found, algorithmIn(found.keys), graceSeconds ?? GRACE_SECONDS_DEFAULT, (keys) =>
      keys.some(({ state }) => state === 'pending'),
    );
  }

  /** Adds new keys. Does nothing if `isDone` returns true for the domain's current keys. */
  private async addKeys(
    found: FoundDomain,
    algorithm: DomainAlgorithm,
    graceSeconds: number,
    isDone: (keys: readonly DomainDkimKeyEntity[]) => boolean,
  ): Promise<DomainView> {
    if (isDone(found.keys)) return this.domains.viewWith(found);
    // Runs before the transaction, because generating an RSA key takes up to a second.
    const generated = await this.keys.generate(algorithmsOf(algorithm));
    return this.changed(found.row, ({ row, keys }) => {
      // Keeps keys that a concurrent request has added. The response to that request contains the DNS records of its
      // keys, so they must stay valid.
      if (isDone(keys)) return null;
      return {
        // If the domain does not send mail yet, the domain's keys become the signer immediately, so that their DNS
        // records are required from now on.
        signer: row.isSending ? row : { dkimSigner: 'domain' as const, platformDkimUntil: null },
        keys: this.keys.withPending(row, keys, generated, graceSeconds),
      };
    });
  }

  private async usePlatform({ row, keys }: FoundDomain): Promise<DomainView> {
    if (!hasOwnKeys(keys)) return this.domains.viewWith({ row, keys });
    // Runs before the transaction, so that the DNS queries do not keep the transaction open.
    if (row.isSending && row.dkimSigner === 'domain') await this.requirePlatformRecords(row);
    return this.changed(row, ({ keys: now }) => backToPlatform(now, this.clock.nowMs()));
  }

  /** Throws 409 with `details.records` if the records of the platform's keys are not found in the DNS. */
  private async requirePlatformRecords(row: DomainEntity): Promise<void> {
    const records = await this.records.look(row, { hasPlatformKeys: true, own: [] });
    const missing = records.filter(({ record, verdict }) => record === 'dkim' && verdict !== 'right');
    if (missing.length === 0) return;
    throw conflict(
      "The platform's key cannot sign the mail of this domain before its records are published. Publish details.records, and send the request again.",
      { records: missing.map(({ type, name, value, error }) => ({ type, name, value, error })) },
    );
  }

  /**
   * Applies a change to the domain's current keys, and schedules a check. Changes nothing if `change` returns null.
   * Throws 404 if the domain was deleted.
   */
  private async changed(
    { environmentId, id }: DomainEntity,
    change: (found: FoundDomain) => {
      signer: Pick<DomainEntity, 'dkimSigner' | 'platformDkimUntil'>;
      keys: DomainDkimKeyEntity[];
    } | null,
  ): Promise<DomainView> {
    const after = await this.database.transaction(async () => {
      const row = await this.store.findForUpdate(environmentId, id);
      if (row === null) throw noSuch('domain');
      const before = { row, keys: await this.keys.ofDomain(row) };
      const next = change(before);
      if (next === null) return before;
      await this.keys.replace(row, next.keys);
      const { dkimSigner, platformDkimUntil } = next.signer;
      const changed = await this.store.update(row, {
        dkimSigner,
        platformDkimUntil,
        version: row.version + 1,
        checks: 0,
        checkedAt: null,
        nextCheckAt: this.clock.now(),
      });
      return { row: changed, keys: next.keys };
    });
    return this.domains.viewWith(after);
  }

  private async find(environmentId: number, id: Id): Promise<FoundDomain> {
    const row = await this.store.find(environmentId, id);
    if (row === null) throw noSuch('domain');
    return { row, keys: await this.keys.ofDomain(row) };
  }
}
