import { Injectable } from '@nestjs/common';
import { type CursorQuery, Cursors, type PageQuery } from '#kernel/cursors.js';
import { noSuch } from '#kernel/errors.js';
import { type Id, parseId } from '#kernel/ids.js';
import type { Tenant } from '#kernel/tenant.js';
import { type ReportRow, ReportsStore, type ReportState } from './reports.store.js';

export interface ReportQuery extends PageQuery {
  state?: ReportState;
}

const LIMIT_DEFAULT = 50;

/** Reads reports of the caller's environment. Only the operator can read reports about unknown emails. */
@Injectable()
export class ReportsService {
  constructor(
    private readonly store: ReportsStore,
    private readonly cursors: Cursors,
  ) {}

  /** Lists reports. Throws 400 for an invalid cursor. */
  async list(tenant: Tenant, query: ReportQuery): Promise<{ rows: ReportRow[]; nextCursor: string | null }> {
    const { cursor, limit = LIMIT_DEFAULT, ...filters } = query;
    const list: CursorQuery = { list: 'reports', filters };
    const beforeId = cursor === undefined ? null : this.cursors.read(tenant, list, cursor);
    const rows = await this.store.page(tenant.environmentId, { beforeId, state: filters.state ?? null }, limit + 1);
    const page = rows.slice(0, limit);
    const last = rows.length > limit ? page.at(-1) : undefined;
    return { rows: page, nextCursor: last ? this.cursors.issue(tenant, list, last.id) : null };
  }

  /** Returns a report. Throws 404 if it does not exist. */
  async find({ environmentId }: Tenant, text: string): Promise<ReportRow> {
    const row = await this.store.find(environmentId, reportId(text));
    if (row === null) throw noSuch('report');
    return row;
  }

  /** Returns the original bytes. Throws 404 if the report does not exist. */
  async raw({ environmentId }: Tenant, text: string): Promise<{ raw: Buffer; type: string }> {
    const found = await this.store.rawOf(environmentId, reportId(text));
    if (found === null) throw noSuch('report');
    return { raw: found.raw, type: found.source === 'ses' ? 'application/json' : 'message/rfc822' };
  }
}

function reportId(text: string): Id {
  const id = parseId('rep', text);
  if (id === null) throw noSuch('report');
  return id;
}
