import { Injectable } from '@nestjs/common';
import { type CursorQuery, Cursors } from '#kernel/cursors.js';
import { noSuch } from '#kernel/errors.js';
import type { Id } from '#kernel/ids.js';
import type { Tenant } from '#kernel/tenant.js';
import type { ApiKeyEntity } from '../auth.entities.js';
import { KeysStore } from './keys.store.js';

const LIMIT_DEFAULT = 50;
const LIST: CursorQuery = { list: 'keys', filters: {} };

/** Reads keys. Lists are newest first, and include revoked and expired keys. */
@Injectable()
export class KeysService {
  constructor(
    private readonly store: KeysStore,
    private readonly cursors: Cursors,
  ) {}

  async list(
    tenant: Tenant,
    { cursor, limit = LIMIT_DEFAULT }: { cursor?: string; limit?: number },
  ): Promise<{
    rows: ApiKeyEntity[];
    nextCursor: string | null;
  }> {
    const before = cursor === undefined ? null : this.cursors.read(tenant, LIST, cursor);
    const rows = await this.store.page(tenant.environmentId, before, limit + 1);
    return this.cursors.page(tenant, LIST, rows, limit, ({ id }) => id);
  }

  /** Returns a key. Throws 404 if there is no such key. */
  async find(tenant: Tenant, id: Id): Promise<ApiKeyEntity> {
    const row = await this.store.find(tenant.environmentId, id);
    if (row === null) throw noSuch('key');
    return row;
  }
}
