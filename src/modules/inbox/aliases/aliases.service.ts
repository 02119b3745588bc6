import { Injectable } from '@nestjs/common';
import { suppressionKey } from '#engine/mail/addresses.js';
import { type CursorQuery, Cursors, type PageQuery } from '#kernel/cursors.js';
import { Database } from '#kernel/database/database.js';
import { noSuch } from '#kernel/errors.js';
import { parseId, showId } from '#kernel/ids.js';
import type { Tenant } from '#kernel/tenant.js';
import { DestinationUsers } from '#modules/destinations/destination-users.js';
import { ForwardAddresses } from '../actions/forward-addresses.js';
import type { ForwardState } from '../actions/forward-addresses.store.js';
import type { AliasEntity } from '../inbox.entities.js';
import { type AliasSettings, AliasSettingsReader } from './alias-settings.js';
import { AliasesStore } from './aliases.store.js';

const LIMIT_DEFAULT = 50;

@Injectable()
export class AliasesService {
  constructor(
    private readonly store: AliasesStore,
    private readonly settings: AliasSettingsReader,
    private readonly forwardAddresses: ForwardAddresses,
    private readonly database: Database,
    private readonly cursors: Cursors,
    users: DestinationUsers,
  ) {
    users.attach(async (environmentId, destinationId, max) =>
      (await this.store.leadingTo(environmentId, destinationId, max)).map(({ id, address }) => ({
        kind: 'alias',
        id: showId('al', id),
        address,
      })),
    );
  }

  /** Returns aliases, newest first. Throws 400 for a bad cursor. */
  async list(
    tenant: Tenant,
    { cursor, limit = LIMIT_DEFAULT }: PageQuery,
  ): Promise<{ rows: AliasEntity[]; nextCursor: string | null }> {
    const list: CursorQuery = { list: 'aliases', filters: {} };
    const beforeId = cursor === undefined ? undefined : this.cursors.read(tenant, list, cursor);
    const rows = await this.store.page(tenant.environmentId, beforeId, limit + 1);
    const page = rows.slice(0, limit);
    const last = rows.length > limit ? page.at(-1) : undefined;
    return { rows: page, nextCursor: last === undefined ? null : this.cursors.issue(tenant, list, last.id) };
  }

  /** Returns the states of the forward addresses of aliases, in the caller's transaction if there is one. */
  forwardStates({ environmentId }: Tenant, rows: readonly AliasEntity[]): Promise<ReadonlyMap<string, ForwardState>> {
    return this.forwardAddresses.statesOf(environmentId, [...new Set(rows.flatMap(({ forwardTo }) => forwardTo))]);
  }

  /** Returns an alias by id or full address. Throws 404 if the alias does not exist. */
  async find({ environmentId }: Pick<Tenant, 'environmentId'>, text: string): Promise<AliasEntity> {
    const id = parseId('al', text);
    const row =
      id === null
        ? await this.store.findAt(environmentId, suppressionKey(text))
        : await this.store.find(environmentId, id);
    if (row === null) throw noSuch('alias');
    return row;
  }

  /**
   * Returns an alias whose messages are read. By id, also returns a removed alias, because its messages are kept. Throws
   * 404 if the alias does not exist.
   */
  async findToRead(tenant: Pick<Tenant, 'environmentId'>, text: string): Promise<AliasEntity> {
    const id = parseId('al', text);
    if (id === null) return this.find(tenant, text);
    const row = await this.store.findOrRemoved(tenant.environmentId, id);
    if (row === null) throw noSuch('alias');
    return row;
  }

  /** Changes an alias and returns it. Throws 404 for an unknown alias, and 422 for invalid settings. */
  async change(tenant: Tenant, text: string, settings: AliasSettings): Promise<AliasEntity> {
    const { environmentId, id } = await this.find(tenant, text);
    const columns = await this.settings.read(environmentId, settings);
    return this.database.transaction(async () => {
      const row = await this.store.findForUpdate(environmentId, id);
      if (row === null) throw noSuch('alias');
      const { destinationIds } = columns;
      // Deletes the filter of a removed destination. Otherwise the filter would reappear if the destination is added
      // again.
      if (destinationIds !== undefined && columns.filters === undefined)
        columns.filters = Object.fromEntries(
          Object.entries(row.filters).filter(([destinationId]) => destinationIds.includes(destinationId)),
        );
      await this.forwardAddresses.request(environmentId, columns.forwardTo ?? []);
      return Object.keys(columns).length === 0 ? row : this.store.update(row, columns);
    });
  }

  /**
   * Removes an alias. New mail is rejected, and received messages stay readable. Throws 404 if unknown or already
   * removed.
   */
  async remove(tenant: Tenant, text: string): Promise<void> {
    const { environmentId, id } = await this.find(tenant, text);
    if (!(await this.database.transaction(() => this.store.remove(environmentId, id)))) throw noSuch('alias');
  }
}
