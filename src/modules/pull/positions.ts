import { Injectable } from '@nestjs/common';
import { type CursorQuery, Cursors, type PageQuery } from '#kernel/cursors.js';
import type { Tenant } from '#kernel/tenant.js';
import { Targets } from '#modules/destinations/targets.js';
import { type PositionRow, PositionsStore } from './positions.store.js';

const LIMIT_DEFAULT = 50;
const LIST: CursorQuery = { list: 'pull positions', filters: {} };

@Injectable()
export class Positions {
  constructor(
    private readonly store: PositionsStore,
    private readonly targets: Targets,
    private readonly cursors: Cursors,
  ) {}

  /** Lists positions, newest destination first. Throws 400 for a cursor that was issued for another list. */
  async list(
    tenant: Tenant,
    { cursor, limit = LIMIT_DEFAULT }: PageQuery,
  ): Promise<{ rows: PositionRow[]; nextCursor: string | null }> {
    const [targetId, keyId] = cursor === undefined ? [] : this.cursors.read(tenant, LIST, cursor).split(' ');
    const after = targetId === undefined || keyId === undefined ? null : { targetId, keyId };
    const found = await this.store.list(tenant.environmentId, this.targets.pulledTypes(), after, limit + 1);
    const rows = found.slice(0, limit);
    const last = rows.at(-1);
    return {
      rows,
      nextCursor:
        found.length > limit && last ? this.cursors.issue(tenant, LIST, `${last.targetId} ${last.keyId}`) : null,
    };
  }
}
