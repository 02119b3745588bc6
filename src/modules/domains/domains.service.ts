import { Injectable } from '@nestjs/common';
import { type CursorQuery, Cursors, type PageQuery } from '#kernel/cursors.js';
import { noSuch } from '#kernel/errors.js';
import type { Id } from '#kernel/ids.js';
import type { Tenant } from '#kernel/tenant.js';
import { DomainChecks } from './domain-checks.js';
import { type DomainView, viewOf } from './domain-view.js';
import type { DomainEntity } from './domains.entities.js';
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
    private readonly cursors: Cursors,
  ) {}

  async list(tenant: Tenant, { cursor, limit = LIMIT_DEFAULT }: PageQuery): Promise<DomainViews> {
    const list: CursorQuery = { list: 'domains', filters: {} };
    const beforeId = cursor === undefined ? undefined : this.cursors.read(tenant, list, cursor);
    const rows = await this.store.page(tenant.environmentId, beforeId, limit + 1);
    const page = this.cursors.page(tenant, list, rows, limit, ({ id }) => id);
    return { views: await Promise.all(page.rows.map((row) => this.view(row))), nextCursor: page.nextCursor };
  }

  /** Throws 404 if the domain does not exist. */
  async find({ environmentId }: Tenant, id: Id): Promise<DomainView> {
    const row = await this.store.find(environmentId, id);
    if (row === null) throw noSuch('domain');
    return this.view(row);
  }

  /** Checks the domain, unless it was checked within the last five seconds. Throws 404. */
  async verify(tenant: Tenant, id: Id): Promise<DomainView> {
    await this.find(tenant, id);
    await this.checks.ask({ environmentId: tenant.environmentId, id });
    return this.find(tenant, id);
  }

  async view(row: DomainEntity): Promise<DomainView> {
    return viewOf(row, await this.zone.recordsOf(row));
  }
}
