import { Injectable } from '@nestjs/common';
import { type CursorQuery, Cursors, type Page } from '#kernel/cursors.js';
import { noSuch } from '#kernel/errors.js';
import type { Tenant } from '#kernel/tenant.js';
import type { EventTypeEntity } from './event-types.entities.js';
import { EventTypesStore, type ListedType, type TypeVersion } from './event-types.store.js';

export interface TypeQuery {
  cursor?: string;
  limit?: number;
  group?: string;
  archived?: boolean;
}

const LIMIT_DEFAULT = 50;
/** Default number of versions per page. It is small, because a schema may have up to 64 KB. */
const VERSIONS_LIMIT_DEFAULT = 20;

@Injectable()
export class EventTypesService {
  constructor(
    private readonly store: EventTypesStore,
    private readonly cursors: Cursors,
  ) {}

  async list(
    tenant: Tenant,
    { cursor, limit = LIMIT_DEFAULT, group, archived = false }: TypeQuery,
  ): Promise<Page<ListedType>> {
    const list: CursorQuery = { list: 'event-types', filters: { group, archived } };
    const beforeId = cursor === undefined ? null : this.cursors.read(tenant, list, cursor);
    const rows = await this.store.page(tenant.environmentId, { group: group ?? null, archived }, beforeId, limit + 1);
    return this.cursors.page(tenant, list, rows, limit, ({ id }) => id);
  }

  /** Returns an event type. Throws 404 if it does not exist. */
  async find({ environmentId }: Tenant, name: string): Promise<EventTypeEntity> {
    const row = await this.store.find(environmentId, name);
    if (row === null) throw noSuch('event type');
    return row;
  }

  /** Returns a page of an event type's versions. Throws 404 if the event type does not exist. */
  async versions(
    tenant: Tenant,
    name: string,
    { cursor, limit = VERSIONS_LIMIT_DEFAULT }: TypeQuery,
  ): Promise<Page<TypeVersion>> {
    const { id } = await this.find(tenant, name);
    const list: CursorQuery = { list: `versions of ${id}`, filters: {} };
    const before = cursor === undefined ? null : Number(this.cursors.read(tenant, list, cursor));
    const rows = await this.store.versions(tenant.environmentId, name, before, limit + 1);
    return this.cursors.page(tenant, list, rows, limit, ({ version }) => String(version));
  }
}
