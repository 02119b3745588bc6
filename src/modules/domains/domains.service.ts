import { Injectable } from '@nestjs/common';
import { type PlatformNames, recordsOf } from '#engine/mail/dns-records.js';
import { isNeeded, publishedKeys } from '#engine/mail/domain-keys.js';
import { Clock } from '#kernel/clock.js';
import { type CursorQuery, Cursors, type PageQuery } from '#kernel/cursors.js';
import { noSuch } from '#kernel/errors.js';
import type { Id } from '#kernel/ids.js';
import type { Tenant } from '#kernel/tenant.js';
import { DomainChecks } from './domain-checks.js';
import { DomainKeys } from './domain-keys.js';
import { type DomainView, viewOf } from './domain-view.js';
import type { DomainDkimKeyEntity, DomainEntity } from './domains.entities.js';
import { DomainsStore } from './domains.store.js';
import { PlatformZone } from './platform-zone.js';

export interface DomainViews {
  views: DomainView[];
  nextCursor: string | null;
}

const LIMIT_DEFAULT = 50;

@Injectable()
export class DomainsService {
  constructor(
    private readonly store: DomainsStore,
    private readonly checks: DomainChecks,
    private readonly zone: PlatformZone,
    private readonly keys: DomainKeys,
    private readonly cursors: Cursors,
    private readonly clock: Clock,
  ) {}

  async list(tenant: Tenant, { cursor, limit = LIMIT_DEFAULT }: PageQuery): Promise<DomainViews> {
    const list: CursorQuery = { list: 'domains', filters: {} };
    const beforeId = cursor === undefined ? undefined : this.cursors.read(tenant, list, cursor);
    const rows = await this.store.page(tenant.environmentId, beforeId, limit + 1);
    const page = this.cursors.page(tenant, list, rows, limit, ({ id }) => id);
    const keys = await this.keys.ofDomains(
      tenant.environmentId,
      page.rows.map(({ id }) => id),
    );
    const names = await this.zone.names();
    const keysOf = ({ id }: DomainEntity): DomainDkimKeyEntity[] => keys.filter(({ domainId }) => domainId === id);
    return {
      views: page.rows.map((row) => this.viewAmong({ row, keys: keysOf(row) }, names)),
      nextCursor: page.nextCursor,
    };
  }

  /** Returns a domain. Throws 404 if it does not exist. */
  async find({ environmentId }: Tenant, id: Id): Promise<DomainView> {
    const row = await this.store.find(environmentId, id);
    if (row === null) throw noSuch('domain');
    return this.view(row);
  }

  /**
   * Checks a domain, unless its last check was less than five seconds ago. Returns the domain. Throws 404 if it does
   * not exist.
   */
  async verify(tenant: Tenant, id: Id): Promise<DomainView> {
    await this.find(tenant, id);
    await this.checks.ask({ environmentId: tenant.environmentId, id });
    return this.find(tenant, id);
  }

  async view(row: DomainEntity): Promise<DomainView> {
    return this.viewWith({ row, keys: await this.keys.ofDomain(row) });
  }

  /** Returns the view of a domain. `keys` contains the domain's own DKIM keys, already loaded by the caller. */
  async viewWith(domain: Pick<DomainView, 'row' | 'keys'>): Promise<DomainView> {
    return this.viewAmong(domain, await this.zone.names());
  }

  private viewAmong({ row, keys }: Pick<DomainView, 'row' | 'keys'>, names: PlatformNames): DomainView {
    const nowMs = this.clock.nowMs();
    const needed = keys.filter((key) => isNeeded(key, nowMs)).toSorted((a, b) => a.selector.localeCompare(b.selector));
    return viewOf({ row, keys: needed }, recordsOf(row, names, publishedKeys(row, needed, nowMs)));
  }
}
