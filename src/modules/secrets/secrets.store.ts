import { Injectable } from '@nestjs/common';
import { LessThan } from 'typeorm';
import { Clock } from '#kernel/clock.js';
import { Database, type Statement } from '#kernel/database/database.js';
import { Notifications } from '#kernel/database/notifications.js';
import { TenantRepository, type TenantWhere } from '#kernel/database/tenant-repository.js';
import type { Id } from '#kernel/ids.js';
import { SecretEntity } from './secrets.entities.js';

export type SealedSecret = Pick<SecretEntity, 'environmentId' | 'id' | 'name' | 'value'>;

export interface Occupancy {
  count: number;
  isTaken: boolean;
}

const LOCK: Statement = {
  name: 'secrets.lock',
  text: `select pg_advisory_xact_lock(hashtext('posthorn secrets'), $1::int)`,
};

const OCCUPANCY: Statement = {
  name: 'secrets.occupancy',
  // Uses the index secrets_environment_id_name_key.
  text: `
    select count(*)::int as count, coalesce(bool_or(name = $2), false) as "isTaken"
    from secrets where environment_id = $1::int`,
};

const VALUES: Statement = {
  name: 'secrets.values',
  // Uses the index secrets_environment_id_name_key.
  text: `
    select environment_id as "environmentId", id, name, value
    from secrets where environment_id = $1::int and name = any($2::text[])`,
};

/**
 * Stores named secrets. The transaction of a change also sends a notification, so that every node evicts cached values.
 */
@Injectable()
export class SecretsStore {
  private readonly rows: TenantRepository<SecretEntity>;

  constructor(
    private readonly database: Database,
    private readonly notifications: Notifications,
    private readonly clock: Clock,
  ) {
    this.rows = new TenantRepository(database, SecretEntity);
  }

  /** Prevents new secrets in the environment until the transaction ends. */
  async lock(environmentId: number): Promise<void> {
    await this.database.query(LOCK, [environmentId]);
  }

  async occupancy(environmentId: number, name: string): Promise<Occupancy> {
    const [row] = await this.database.query<Occupancy>(OCCUPANCY, [environmentId, name]);
    return row ?? { count: 0, isTaken: false };
  }

  /** Returns the secret, or null if it does not exist. Uses the index secrets_pkey. */
  find(environmentId: number, id: Id): Promise<SecretEntity | null> {
    return this.rows.findOne({ environmentId, id });
  }

  /** Returns the secret and locks it against changes and new uses until the transaction ends. */
  findForUpdate(environmentId: number, id: Id): Promise<SecretEntity | null> {
    return this.rows.findForUpdate({ environmentId, id });
  }

  /** Returns secrets, newest first. Reads the index secrets_pkey in descending order. */
  page(environmentId: number, beforeId: Id | undefined, rowsMax: number): Promise<SecretEntity[]> {
    const where: TenantWhere<SecretEntity> = { environmentId };
    if (beforeId !== undefined) where.id = LessThan(beforeId);
    return this.rows.find({ where, order: { id: 'DESC' }, take: rowsMax });
  }

  /** Returns encrypted values. The result omits names that do not exist. */
  values(environmentId: number, names: readonly string[]): Promise<SealedSecret[]> {
    return this.database.query<SealedSecret>(VALUES, [environmentId, names]);
  }

  insert(row: SecretEntity): Promise<void> {
    return this.database.transaction(async () => {
      await this.rows.insert(row);
      await this.announce(row.environmentId, row.name);
    });
  }

  update(
    row: SecretEntity,
    changes: Partial<Pick<SecretEntity, 'description' | 'value' | 'version'>>,
  ): Promise<SecretEntity> {
    const { environmentId, id, name } = row;
    const columns = { ...changes, updatedAt: this.clock.now() };
    return this.database.transaction(async () => {
      await this.rows.update({ environmentId, id }, columns);
      await this.announce(environmentId, name);
      return { ...row, ...columns };
    });
  }

  /**
   * Removes a secret. Returns false if the secret does not exist. Throws SQLSTATE 23503 while the secret is in use
   * (secret_uses_secret_fkey). Uses the index secrets_pkey.
   */
  remove({ environmentId, id, name }: Pick<SecretEntity, 'environmentId' | 'id' | 'name'>): Promise<boolean> {
    return this.database.transaction(async () => {
      if ((await this.rows.delete({ environmentId, id })) === 0) return false;
      await this.announce(environmentId, name);
      return true;
    });
  }

  private announce(environmentId: number, name: string): Promise<void> {
    return this.notifications.announce('secret', `${environmentId}:${name}`);
  }
}
