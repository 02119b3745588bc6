import { Injectable } from '@nestjs/common';
import { And, type FindOperator, In, LessThan, Raw } from 'typeorm';
import { Clock } from '#kernel/clock.js';
import { Database, sqlState, type Statement } from '#kernel/database/database.js';
import { Notifications } from '#kernel/database/notifications.js';
import { prefixPattern } from '#kernel/database/prefix.js';
import { TenantRepository, type TenantWhere } from '#kernel/database/tenant-repository.js';
import type { Id } from '#kernel/ids.js';
import { ApplicationEntity } from './applications.entities.js';

export type ApplicationColumns = Partial<Pick<ApplicationEntity, 'uid' | 'name' | 'metadata'>>;

export interface ApplicationFilter {
  /** Prefix of the name or the uid; case is ignored. */
  search?: string;
  beforeId?: Id;
}

const UNIQUE_VIOLATION = '23505';

const INSERT: Statement = {
  name: 'applications_insert',
  // Uses the index applications_uid_idx. If the uid is taken, nothing is inserted and the transaction continues.
  text: `
    insert into applications (environment_id, id, uid, name, metadata, created_at, updated_at)
    values ($1::int, $2::uuid, $3::text, $4::text, $5::jsonb, $6::timestamptz, $6::timestamptz)
    on conflict (environment_id, uid) where uid is not null do nothing returning id`,
};

/** Stores applications. The transaction of each change sends a notification that invalidates every node's cache. */
@Injectable()
export class ApplicationsStore {
  private readonly rows: TenantRepository<ApplicationEntity>;

  constructor(
    private readonly database: Database,
    private readonly notifications: Notifications,
    private readonly clock: Clock,
  ) {
    this.rows = new TenantRepository(database, ApplicationEntity);
  }

  /** Returns the application with this id, or null. Uses the index applications_pkey. */
  find(environmentId: number, id: Id): Promise<ApplicationEntity | null> {
    return this.rows.findOne({ environmentId, id });
  }

  /** Returns the application with this uid, or null. Uses the index applications_uid_idx. */
  findByUid(environmentId: number, uid: string): Promise<ApplicationEntity | null> {
    return this.rows.findOne({ environmentId, uid });
  }

  /**
   * Locks the application until the transaction ends. Lock it `alone` to change the application or its number of
   * endpoints, and `together` to change existing endpoints. Every transaction takes this lock first, which prevents
   * deadlocks.
   */
  hold(environmentId: number, id: Id, how: 'alone' | 'together'): Promise<ApplicationEntity | null> {
    return this.rows.findForUpdate({ environmentId, id }, how === 'alone' ? 'exclusive' : 'shared');
  }

  /** Returns the applications with the given ids. Omits missing applications. Uses the index applications_pkey. */
  these(environmentId: number, ids: readonly Id[]): Promise<ApplicationEntity[]> {
    return this.rows.find({ where: { environmentId, id: In([...ids]) } });
  }

  /** Lists newest first. Uses applications_pkey, applications_name_idx and applications_uid_prefix_idx. */
  page(environmentId: number, filter: ApplicationFilter, rowsMax: number): Promise<ApplicationEntity[]> {
    return this.rows.find({ where: listed(environmentId, filter), order: { id: 'DESC' }, take: rowsMax });
  }

  /** Returns the number of matching applications, up to `max`. Uses the same indexes as `page`. */
  async count(environmentId: number, filter: ApplicationFilter, max: number): Promise<number> {
    return (await this.rows.find({ select: { id: true }, where: listed(environmentId, filter), take: max })).length;
  }

  /** Inserts an application. Returns false if its uid is taken. The transaction continues in that case. */
  insert({ environmentId, id, uid, name, metadata, createdAt }: ApplicationEntity): Promise<boolean> {
    return this.database.transaction(async () => {
      const inserted = await this.database.query(INSERT, [
        environmentId,
        id,
        uid,
        name,
        JSON.stringify(metadata),
        createdAt,
      ]);
      if (inserted.length === 0) return false;
      await this.announceUid(environmentId, id);
      return true;
    });
  }

  /** Returns the row after the changes, or null if the new uid is taken. The transaction is aborted in that case. */
  update(row: ApplicationEntity, changes: ApplicationColumns): Promise<ApplicationEntity | null> {
    const { environmentId, id } = row;
    const columns = { ...changes, updatedAt: this.clock.now() };
    return this.database.transaction(async () => {
      try {
        await this.rows.update({ environmentId, id }, columns);
      } catch (error) {
        if (sqlState(error) === UNIQUE_VIOLATION) return null;
        throw error;
      }
      await this.announceUid(environmentId, id);
      return { ...row, ...columns };
    });
  }

  /**
   * Removes an application with its endpoints, but not the destinations that they own. Uses applications_pkey and, for
   * the cascade, application_endpoints_application_id_idx.
   */
  remove(environmentId: number, id: Id): Promise<void> {
    return this.database.transaction(async () => {
      await this.rows.delete({ environmentId, id });
      await this.announceUid(environmentId, id);
    });
  }

  announce(environmentId: number, id: Id): Promise<void> {
    return this.notifications.announce('application', `${environmentId}:${id}`);
  }

  /** Notifies all nodes that a uid may now belong to another application. */
  private async announceUid(environmentId: number, id: Id): Promise<void> {
    await this.announce(environmentId, id);
    await this.notifications.announce('application_uid', String(environmentId));
  }
}

function listed(environmentId: number, { beforeId, search }: ApplicationFilter): TenantWhere<ApplicationEntity> {
  const ids = [
    ...(beforeId === undefined ? [] : [LessThan(beforeId)]),
    ...(search === undefined ? [] : [beginningWith(environmentId, search)]),
  ];
  return { environmentId, ...(ids.length > 0 && { id: And(...ids) }) };
}

/**
 * Returns a condition for a prefix. Uses one condition for the name and one for the uid, because they have different
 * indexes.
 */
function beginningWith(environmentId: number, search: string): FindOperator<Id> {
  const found = ['name', 'uid'].map(
    (column) =>
      `select a.id from applications a where a.environment_id = :searchedIn and lower(a.${column}) like :prefix`,
  );
  return Raw((id) => `${id} in (${found.join(' union ')})`, {
    searchedIn: environmentId,
    prefix: prefixPattern(search),
  }) as FindOperator<Id>;
}
