import { Injectable } from '@nestjs/common';
import { type FindOptionsWhere, LessThan, type QueryDeepPartialEntity, type Repository } from 'typeorm';
import { Clock } from '#kernel/clock.js';
import { Database, type Statement } from '#kernel/database.js';
import type { Id } from '#kernel/ids.js';
import { Notifications } from '#kernel/notifications.js';
import { DestinationEntity, type Validation } from './destinations.entities.js';

/** Which destinations a list shows. */
export interface DestinationFilter {
  type?: string;
  validation?: Validation;
  beforeId?: Id;
}

/** TypeORM takes the values of open records (`config`) for functions. */
type Writable = QueryDeepPartialEntity<DestinationEntity>;

const DISABLE: Statement = {
  name: 'destinations.disable',
  // Index destinations_pkey. The first reason stays.
  text: `
    update destinations set status = 'disabled', disabled_reason = $3, updated_at = $4::timestamptz
    where environment_id = $1::int and id = $2::uuid and status = 'active'
    returning id`,
};

const REMOVE: Statement = {
  name: 'destinations.remove',
  // Indexes destinations_pkey and target_permits_pkey.
  text: `
    with removed as (
      delete from destinations where environment_id = $1::int and id = $2::uuid returning environment_id, id
    ), permits as (
      delete from target_permits p using removed r where p.environment_id = r.environment_id and p.target_id = r.id
    )
    select id from removed`,
};

/** Destinations. Every change is announced in its own transaction: no node goes on with what it remembers. */
@Injectable()
export class DestinationsStore {
  constructor(
    private readonly database: Database,
    private readonly notifications: Notifications,
    private readonly clock: Clock,
  ) {}

  /** Index destinations_pkey. */
  find(environmentId: number, id: Id): Promise<DestinationEntity | null> {
    return this.rows().findOneBy({ environmentId, id });
  }

  /** The same, and nobody else changes it until the transaction ends. */
  findForUpdate(environmentId: number, id: Id): Promise<DestinationEntity | null> {
    return this.rows().findOne({ where: { environmentId, id }, lock: { mode: 'pessimistic_write' } });
  }

  /** Newest first. Index destinations_pkey, backwards; filters are applied on the way. */
  page(environmentId: number, { beforeId, type, validation }: DestinationFilter, rowsMax: number): Promise<DestinationEntity[]> {
    const where: FindOptionsWhere<DestinationEntity> = { environmentId };
    if (beforeId !== undefined) where.id = LessThan(beforeId);
    if (type !== undefined) where.type = type;
    if (validation !== undefined) where.validation = validation;
    return this.rows().find({ where, order: { id: 'DESC' }, take: rowsMax });
  }

  insert(row: DestinationEntity): Promise<void> {
    return this.database.transaction(async () => {
      await this.rows().insert(row as Writable);
      await this.announce(row.environmentId, row.id);
    });
  }

  update(environmentId: number, id: Id, changes: Partial<Omit<DestinationEntity, 'environmentId' | 'id' | 'updatedAt'>>): Promise<void> {
    return this.database.transaction(async () => {
      await this.rows().update({ environmentId, id }, { ...changes, updatedAt: this.clock.now() } as Writable);
      await this.announce(environmentId, id);
    });
  }

  /** Disables an active one. */
  disable(environmentId: number, id: Id, reason: string): Promise<void> {
    return this.database.transaction(async () => {
      const disabled = await this.database.query(DISABLE, [environmentId, id, reason, this.clock.now()]);
      if (disabled.length > 0) await this.announce(environmentId, id);
    });
  }

  /** False when there is none. */
  remove(environmentId: number, id: Id): Promise<boolean> {
    return this.database.transaction(async () => {
      const removed = await this.database.query(REMOVE, [environmentId, id]);
      if (removed.length === 0) return false;
      await this.announce(environmentId, id);
      return true;
    });
  }

  private announce(environmentId: number, id: Id): Promise<void> {
    return this.notifications.announce('destination', `${environmentId}:${id}`);
  }

  private rows(): Repository<DestinationEntity> {
    return this.database.manager().getRepository(DestinationEntity);
  }
}
