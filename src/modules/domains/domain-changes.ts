import { Injectable } from '@nestjs/common';
import { DiscoveryService } from '@nestjs/core';
import { recordsOf } from '#engine/mail/dns-records.js';
import { publishedKeys } from '#engine/mail/domain-keys.js';
import { afterConversion } from '#engine/mail/domain-state.js';
import { Clock } from '#kernel/clock.js';
import { Database } from '#kernel/database/database.js';
import { conflict, invalid, noSuch } from '#kernel/errors.js';
import { providersExtending } from '#kernel/extension-points.js';
import type { Id } from '#kernel/ids.js';
import type { Tenant } from '#kernel/tenant.js';
import { DomainUsers } from './contract.js';
import { columnsOf, standingOf } from './domain-checks.js';
import { DomainKeys } from './domain-keys.js';
import { type DomainView, judgedKey } from './domain-view.js';
import type { DomainEntity } from './domains.entities.js';
import { DomainsService } from './domains.service.js';
import { DomainsStore } from './domains.store.js';
import { MxGate } from './mx-gate.js';
import { PlatformZone } from './platform-zone.js';

export interface Conversion {
  kind: 'email' | 'email-send';
  isMxAcknowledged: boolean;
}

const USERS_SHOWN_MAX = 100;

@Injectable()
export class DomainChanges {
  constructor(
    private readonly store: DomainsStore,
    private readonly domains: DomainsService,
    private readonly keys: DomainKeys,
    private readonly gate: MxGate,
    private readonly zone: PlatformZone,
    private readonly database: Database,
    private readonly clock: Clock,
    private readonly discovery: DiscoveryService,
  ) {}

  /**
   * Converts a domain to `kind`. Throws 404 for an unknown domain, 422 for a webhook domain, and 409 if the domain has
   * aliases or another server's MX record.
   */
  async convert({ environmentId }: Tenant, id: Id, { kind, isMxAcknowledged }: Conversion): Promise<DomainView> {
    const found = await this.store.find(environmentId, id);
    if (found === null) throw noSuch('domain');
    // Runs before the transaction, so that the DNS queries do not keep the transaction open.
    if (found.kind === 'email-send' && kind === 'email') await this.gate.pass(found, isMxAcknowledged);
    const platform = await this.zone.names();
    const row = await this.database.transaction(async () => {
      const before = await this.store.findForUpdate(environmentId, id);
      if (before === null) throw noSuch('domain');
      if (before.kind === 'webhook') {
        throw invalid([
          {
            path: 'kind',
            message:
              'A webhook domain cannot be converted: its CNAME cannot stand beside an MX. Delete it, and create it again.',
          },
        ]);
      }
      if (before.kind === kind) return before;
      if (kind === 'email-send') {
        await this.refuseUsed(before, 'Aliases receive on this domain. Delete them first, see details.used_by.');
      }
      const published = publishedKeys(before, await this.keys.ofDomain(before), this.clock.nowMs());
      const judged = recordsOf({ ...before, kind }, platform, published).map((each) => ({
        ...each,
        ...(before.judged[judgedKey(each)] ?? UNSEEN),
      }));
      const after = afterConversion(standingOf(before), kind, judged);
      const verifiedAt =
        after.state === 'verified' && before.state !== 'verified' ? this.clock.now() : before.verifiedAt;
      return this.store.update(before, {
        ...columnsOf(after),
        kind,
        verifiedAt,
        version: before.version + 1,
        checks: 0,
        checkedAt: null,
        nextCheckAt: this.clock.now(),
      });
    });
    return this.domains.view(row);
  }

  /** Deletes a domain. Throws 409 if the domain is in use, and 404 if it does not exist. */
  async remove({ environmentId }: Tenant, id: Id): Promise<void> {
    await this.database.transaction(async () => {
      const row = await this.store.findForUpdate(environmentId, id);
      if (row === null) throw noSuch('domain');
      await this.refuseUsed(row, 'This domain is in use. Delete or move its users first, see details.used_by.');
      await this.store.remove(row);
    });
  }

  /**
   * Throws 409 if the domain is in use. The caller must hold the row lock, so that the domain cannot come into use
   * concurrently.
   */
  private async refuseUsed({ environmentId, id }: DomainEntity, message: string): Promise<void> {
    const used: string[] = [];
    // The lookups run one after another, because they share the connection of one transaction.
    for (const users of providersExtending(this.discovery, DomainUsers))
      used.push(...(await users.usersOf(environmentId, id)));
    if (used.length > 0) throw conflict(message, { used_by: used.slice(0, USERS_SHOWN_MAX) });
  }
}

const UNSEEN = { verdict: 'missing', error: null } as const;
