import { Injectable } from '@nestjs/common';
import { type FindOptionsWhere, LessThan, type Repository } from 'typeorm';
import { Clock } from '#kernel/clock.js';
import { Database, type Statement } from '#kernel/database/database.js';
import { Notifications } from '#kernel/database/notifications.js';
import type { Id } from '#kernel/ids.js';
import { SecretEntity } from './secrets.entities.js';

/** A secret's sealed value, and what opens it. */
export type SealedSecret = Pick<SecretEntity, 'environmentId' | 'id' | 'name' | 'value'>;

/** What is known of an environment's secrets before one is added. */
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
  // Index secrets_environment_id_name_key.
  text: `
    select count(*)::int as count, coalesce(bool_or(name = $2), false) as "isTaken"
    from secrets where environment_id = $1::int`,
};

const VALUES: Statement = {
  name: 'secrets.values',
  // Index secrets_environment_id_name_key.
  text: `
    select environment_id as "environmentId", id, name, value
    from secrets where environment_id = $1::int and name = any($2::text[])`,
};

const REMOVE: Statement = {
  name: 'secrets.remove',
  // Index secrets_pkey. Refused by secret_uses_secret_fkey while something uses it.
  text: 'delete from secrets where environment_id = $1::int and id = $2::uuid returning name',
};

/** Named secrets. Every change is announced in its own transaction: no node goes on with a value that it remembers. */
@Injectable()
export class SecretsStore {
  constructor(
    private readonly database: Database,
    private readonly notifications: Notifications,
    private readonly clock: Clock,
  ) {}

  /** Until the transaction ends, nobody else adds a secret to the environment. */
  async lock(environmentId: number): Promise<void> {
    await this.database.query(LOCK, [environmentId]);
  }

  async occupancy(environmentId: number, name: string): Promise<Occupancy> {
    const [row] = await this.database.query<Occupancy>(OCCUPANCY, [environmentId, name]);
    return row ?? { count: 0, isTaken: false };
  }

  /** Index secrets_pkey. */
  find(environmentId: number, id: Id): Promise<SecretEntity | null> {
    return this.rows().findOneBy({ environmentId, id });
  }

  /** The same, and until the transaction ends nobody changes it or begins to use it. */
  findForUpdate(environmentId: number, id: Id): Promise<SecretEntity | null> {
    return this.rows().findOne({ where: { environmentId, id }, lock: { mode: 'pessimistic_write' } });
  }

  /** Newest first. Index secrets_pkey, backwards. */
  page(environmentId: number, beforeId: Id | undefined, rowsMax: number): Promise<SecretEntity[]> {
    const where: FindOptionsWhere<SecretEntity> = { environmentId };
    if (beforeId !== undefined) where.id = LessThan(beforeId);
    return this.rows().find({ where, order: { id: 'DESC' }, take: rowsMax });
  }

  /** The sealed values of those that exist. */
  values(environmentId: number, names: readonly string[]): Promise<SealedSecret[]> {
    return this.database.query<SealedSecret>(VALUES, [environmentId, names]);
  }

  insert(row: SecretEntity): Promise<void> {
    return this.database.transaction(async () => {
      await this.rows().insert(row);
      await this.announce(row.environmentId, row.name);
    });
  }

  /** The row after the changes. */
  update(
    row: SecretEntity,
    changes: Partial<Pick<SecretEntity, 'description' | 'value' | 'version'>>,
  ): Promise<SecretEntity> {
    const { environmentId, id, name } = row;
    const columns = { ...changes, updatedAt: this.clock.now() };
    return this.database.transaction(async () => {
      await this.rows().update({ environmentId, id }, columns);
      await this.announce(environmentId, name);
      return { ...row, ...columns };
    });
  }

  /** False when there is none. Throws SQLSTATE 23503 while something uses it. */
  remove(environmentId: number, id: Id): Promise<boolean> {
    return this.database.transaction(async () => {
      const [removed] = await this.database.query<{ name: string }>(REMOVE, [environmentId, id]);
      if (!removed) return false;
      await this.announce(environmentId, removed.name);
      return true;
    });
  }

  private announce(environmentId: number, name: string): Promise<void> {
    return this.notifications.announce('secret', `${environmentId}:${name}`);
  }

  private rows(): Repository<SecretEntity> {
    return this.database.manager().getRepository(SecretEntity);
  }
}
