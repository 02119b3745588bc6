import { Injectable } from '@nestjs/common';
import { type CursorQuery, Cursors } from '#kernel/cursors.js';
import { noSuch } from '#kernel/errors.js';
import type { Id } from '#kernel/ids.js';
import type { Tenant } from '#kernel/tenant.js';
import type { SecretUser } from '#modules/secrets/contract.js';
import { SecretUsesStore } from './secret-uses.store.js';
import type { SecretEntity } from './secrets.entities.js';
import { SecretsStore } from './secrets.store.js';

export interface SecretQuery {
  cursor?: string;
  limit?: number;
}

export interface SecretRows {
  rows: SecretEntity[];
  nextCursor: string | null;
}

export interface SecretView {
  row: SecretEntity;
  users: SecretUser[];
}

const LIMIT_DEFAULT = 50;
export const USERS_SHOWN_MAX = 100;

/** Returns secrets of the caller's environment without their values. */
@Injectable()
export class SecretsService {
  constructor(
    private readonly store: SecretsStore,
    private readonly uses: SecretUsesStore,
    private readonly cursors: Cursors,
  ) {}

  async list(tenant: Tenant, { cursor, limit = LIMIT_DEFAULT }: SecretQuery): Promise<SecretRows> {
    const list: CursorQuery = { list: 'secrets', filters: {} };
    const beforeId = cursor === undefined ? undefined : this.cursors.read(tenant, list, cursor);
    const rows = await this.store.page(tenant.environmentId, beforeId, limit + 1);
    return this.cursors.page(tenant, list, rows, limit, ({ id }) => id);
  }

  async find(tenant: Tenant, id: Id): Promise<SecretView> {
    const row = await this.store.find(tenant.environmentId, id);
    if (row === null) throw noSuch('secret');
    return { row, users: await this.uses.users(tenant.environmentId, id, USERS_SHOWN_MAX) };
  }
}
