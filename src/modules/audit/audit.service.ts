import { Injectable } from '@nestjs/common';
import { csvLine } from '#engine/csv.js';
import { type CursorQuery, Cursors, type PageQuery } from '#kernel/cursors.js';
import type { Id } from '#kernel/ids.js';
import type { Tenant } from '#kernel/tenant.js';
import { type AuditItem, presentAudit } from './audit.dto.js';
import { type AuditFilter, type AuditReach, type AuditRow, AuditStore, NOBODY } from './audit.store.js';

const LIMIT_DEFAULT = 50;
const EXPORTED_AT_ONCE = 500;
const HEADINGS = [
  'id',
  'at',
  'actor_kind',
  'actor_id',
  'actor_name',
  'actor_source',
  'action',
  'resource_type',
  'resource_id',
  'ip',
  'user_agent',
  'request_id',
  'before',
  'after',
  'actor_session',
];

/** Tenant that represents the installation as a whole. No environment has the number 0. */
const INSTALLATION: Tenant = { environmentId: 0, organizationId: NOBODY, mode: 'live' };

/** Reads the audit log. Callers in a live environment also see entries that do not belong to a single environment. */
@Injectable()
export class AuditService {
  constructor(
    private readonly store: AuditStore,
    private readonly cursors: Cursors,
  ) {}

  async list(
    tenant: Tenant,
    filter: AuditFilter,
    { cursor, limit = LIMIT_DEFAULT }: PageQuery,
  ): Promise<{ rows: AuditRow[]; nextCursor: string | null }> {
    const query: CursorQuery = { list: 'audit', filters: { ...filter } };
    const before = cursor === undefined ? null : this.cursors.read(tenant, query, cursor);
    const rows = await this.store.page(reachOf(tenant), filter, before, limit + 1);
    return this.cursors.page(tenant, query, rows, limit, ({ id }) => id);
  }

  /** Returns entries without an organization: the operator's calls, and sign-ins with unknown email addresses. */
  async listOfInstallation(
    filter: AuditFilter,
    page: PageQuery,
  ): Promise<{ rows: AuditRow[]; nextCursor: string | null }> {
    return this.list(INSTALLATION, filter, page);
  }

  /** Streams all entries of the audit log, oldest first. Keeps only one page of entries in memory at a time. */
  async *export(tenant: Tenant, filter: AuditFilter, format: 'jsonl' | 'csv'): AsyncGenerator<string> {
    if (format === 'csv') yield csvLine(HEADINGS);
    const reach = reachOf(tenant);
    let after: Id | null = null;
    for (;;) {
      const rows: AuditRow[] = await this.store.after(reach, filter, after, EXPORTED_AT_ONCE);
      if (rows.length > 0)
        yield rows
          .map(presentAudit)
          .map(format === 'csv' ? asCsv : (item) => `${JSON.stringify(item)}\n`)
          .join('');
      after = rows.at(-1)?.id ?? null;
      if (rows.length < EXPORTED_AT_ONCE) return;
    }
  }
}

function reachOf({ organizationId, environmentId, mode }: Tenant): AuditReach {
  return { organizationId, environmentId, seesBoth: mode === 'live' };
}

function asCsv({ actor, before, after, ...item }: AuditItem): string {
  return csvLine([
    item.id,
    item.at,
    actor.kind,
    actor.id,
    actor.name,
    actor.source,
    item.action,
    item.resource_type,
    item.resource_id,
    item.ip,
    item.user_agent,
    item.request_id,
    before && JSON.stringify(before),
    after && JSON.stringify(after),
    actor.session,
  ]);
}
