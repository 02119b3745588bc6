import { Injectable } from '@nestjs/common';
import { ArrayContains, IsNull, LessThan } from 'typeorm';
import { Clock } from '#kernel/clock.js';
import { Database, sqlState, type Statement } from '#kernel/database/database.js';
import { Notifications } from '#kernel/database/notifications.js';
import { TenantRepository, type TenantWhere } from '#kernel/database/tenant-repository.js';
import type { Id } from '#kernel/ids.js';
import { AliasEntity } from '../inbox.entities.js';

/** Columns that a change may set. The address identifies the alias and never changes. */
export type AliasColumns = Partial<
  Pick<
    AliasEntity,
    'destinationIds' | 'filters' | 'allowedSenders' | 'maxSizeBytes' | 'forwardTo' | 'autoReply' | 'linkTtlSeconds'
  >
>;

const UNIQUE_VIOLATION = '23505';

const LOCK: Statement = {
  name: 'aliases.lock',
  text: `select pg_advisory_xact_lock(hashtext('posthorn aliases'), $1::int)`,
};

/**
 * SQL condition: all messages of the alias have expired. Rounding may extend retention by 1/30 (engine/expiry-day.ts).
 */
const REMOVED_LONG_AGO = `a.removed_at < now() - (e.retention_days * 31 / 30 + 2) * interval '1 day'`;

/** Checks whether any alias can be deleted. Scans all aliases, but not their messages. */
const IS_ANY_FORGOTTEN: Statement = {
  name: 'aliases.is_any_forgotten',
  text: `select true as found from aliases a join environments e on e.id = a.environment_id where ${REMOVED_LONG_AGO} limit 1`,
};

/** Uses aliases_pkey. Includes removed aliases, because mail that they accepted may still be in flight. */
const FILTERS: Statement = {
  name: 'aliases.filters',
  text: 'select filters from aliases where environment_id = $1::int and id = $2::uuid',
};

/**
 * Deletes aliases that were removed so long ago that all their messages have expired. Scans every partition of
 * messages.
 */
const FORGET: Statement = {
  name: 'aliases.forget',
  text: `
    delete from aliases a using environments e
    where e.id = a.environment_id and ${REMOVED_LONG_AGO}
      and not exists (select 1 from inbox_messages m where m.environment_id = a.environment_id and m.alias_id = a.id)`,
};

/** Stores aliases. The transaction of a change also sends a notification, so that all processes clear their caches. */
@Injectable()
export class AliasesStore {
  private readonly rows: TenantRepository<AliasEntity>;

  constructor(
    private readonly database: Database,
    private readonly notifications: Notifications,
    private readonly clock: Clock,
  ) {
    this.rows = new TenantRepository(database, AliasEntity);
  }

  /** Prevents other transactions from adding an alias to the environment until this transaction ends. */
  async lock(environmentId: number): Promise<void> {
    await this.database.query(LOCK, [environmentId]);
  }

  /** Returns the number of aliases that are not removed. Uses aliases_address_idx. */
  count(environmentId: number): Promise<number> {
    return this.rows.count({ environmentId, removedAt: IsNull() });
  }

  /** Returns an alias, or null if it is unknown or removed. Uses aliases_pkey. */
  find(environmentId: number, id: Id): Promise<AliasEntity | null> {
    return this.rows.findOne({ environmentId, id, removedAt: IsNull() });
  }

  /** Returns an alias, even if it was removed. Null if it is unknown. Uses aliases_pkey. */
  findOrRemoved(environmentId: number, id: Id): Promise<AliasEntity | null> {
    return this.rows.findOne({ environmentId, id });
  }

  /** Returns the alias with this address, or null if it is unknown or removed. Uses aliases_address_idx. */
  findAt(environmentId: number, address: string): Promise<AliasEntity | null> {
    return this.rows.findOne({ environmentId, address, removedAt: IsNull() });
  }

  /** Returns an alias, and locks its row, so that other changes wait until the transaction ends. */
  findForUpdate(environmentId: number, id: Id): Promise<AliasEntity | null> {
    return this.rows.findForUpdate({ environmentId, id, removedAt: IsNull() });
  }

  /**
   * Returns an alias's filters. Includes removed aliases, because their mail may be in flight. Empty for an unknown
   * alias.
   */
  async filters(environmentId: number, id: Id): Promise<AliasEntity['filters']> {
    const [row] = await this.database.readPrepared<Pick<AliasEntity, 'filters'>>(FILTERS, [environmentId, id]);
    return row?.filters ?? {};
  }

  /** Returns aliases that are not removed, newest first. Reads aliases_pkey in descending order. */
  page(environmentId: number, beforeId: Id | undefined, rowsMax: number): Promise<AliasEntity[]> {
    const where: TenantWhere<AliasEntity> = { environmentId, removedAt: IsNull() };
    if (beforeId !== undefined) where.id = LessThan(beforeId);
    return this.rows.find({ where, order: { id: 'DESC' }, take: rowsMax });
  }

  /** Returns up to `max` aliases on a domain. Uses aliases_domain_id_idx. */
  onDomain(environmentId: number, domainId: Id, max: number): Promise<Pick<AliasEntity, 'id'>[]> {
    return this.rows.find({
      select: { id: true },
      where: { environmentId, domainId, removedAt: IsNull() },
      order: { id: 'ASC' },
      take: max,
    });
  }

  /** Returns up to `max` aliases with this destination. Scans all aliases of the environment. */
  leadingTo(environmentId: number, destinationId: Id, max: number): Promise<AliasEntity[]> {
    return this.rows.find({
      where: { environmentId, destinationIds: ArrayContains([destinationId]), removedAt: IsNull() },
      order: { id: 'ASC' },
      take: max,
    });
  }

  /**
   * Inserts an alias. Returns false and aborts the transaction if the address exists (aliases_address_idx,
   * aliases_platform_idx).
   */
  async insert(row: AliasEntity): Promise<boolean> {
    try {
      await this.rows.insert(row);
    } catch (error) {
      if (sqlState(error) === UNIQUE_VIOLATION) return false;
      throw error;
    }
    await this.announce(row);
    return true;
  }

  /** Updates an alias and returns it, in the transaction that locked its row. Increments the alias's version. */
  async update(row: AliasEntity, changes: AliasColumns): Promise<AliasEntity> {
    const columns = { ...changes, version: row.version + 1, updatedAt: this.clock.now() };
    await this.rows.update({ environmentId: row.environmentId, id: row.id }, columns);
    await this.announce(row);
    return { ...row, ...columns };
  }

  /** Marks an alias as removed. Returns false if it is unknown or already removed. Uses aliases_pkey. */
  async remove(environmentId: number, id: Id): Promise<boolean> {
    const now = (): string => 'now()';
    const where = { environmentId, id, removedAt: IsNull() };
    if ((await this.rows.update(where, { removedAt: now, updatedAt: now })) === 0) return false;
    await this.announce({ environmentId, id });
    return true;
  }

  async forget(): Promise<void> {
    if ((await this.database.query(IS_ANY_FORGOTTEN)).length > 0) await this.database.query(FORGET);
  }

  private announce({ environmentId, id }: Pick<AliasEntity, 'environmentId' | 'id'>): Promise<void> {
    return this.notifications.announce('alias', `${environmentId}:${id}`);
  }
}
