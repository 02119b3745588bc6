import { Injectable } from '@nestjs/common';
import { And, Any, type FindOperator, IsNull, LessThan, Not, Raw } from 'typeorm';
import type { Circuit } from '#engine/circuit.js';
import { Clock } from '#kernel/clock.js';
import { openNamed, sealNamed, type StoredHeaders } from '#kernel/crypto/sealed-headers.js';
import { Vault } from '#kernel/crypto/vault.js';
import { Database, type Statement } from '#kernel/database/database.js';
import { Notifications } from '#kernel/database/notifications.js';
import { prefixPattern } from '#kernel/database/prefix.js';
import { type ColumnValues, TenantRepository, type TenantWhere } from '#kernel/database/tenant-repository.js';
import type { Id } from '#kernel/ids.js';
import { type DestinationName, shownTarget } from '#modules/destinations/contract.js';
import { SystemEvents } from '#modules/system-events/contract.js';
import { DestinationEntity, type RetrySettings, type Validation } from './destinations.entities.js';

const TABLE = 'destinations';

export interface DestinationFilter {
  type?: string;
  validation?: Validation;
  status?: 'active' | 'disabled';
  circuit?: Circuit['state'];
  /** Prefix of the name, ignoring case. */
  search?: string;
  beforeId?: Id;
}

/** Kind of destination: `listed` if the API lists it, `owned` if it belongs to an application's endpoint. */
export type Whose = 'listed' | 'owned';

const DISABLE: Statement = {
  name: 'destinations.disable',
  // Uses the index `destinations_pkey`. A destination that is already disabled keeps its reason.
  text: `
    update destinations set status = 'disabled', disabled_reason = $3, disabled_at = now(), updated_at = $4::timestamptz
    where environment_id = $1::int and id = $2::uuid and status = 'active'
    returning id, name, owner_id as "ownerId"`,
};

const REMOVE: Statement = {
  name: 'destinations.remove',
  // Uses the indexes `destinations_pkey` and `target_permits_pkey`.
  text: `
    with removed as (
      delete from destinations where environment_id = $1::int and id = $2::uuid returning environment_id, id
    ), permits as (
      delete from target_permits p using removed r where p.environment_id = r.environment_id and p.target_id = r.id
    )
    select id from removed`,
};

const REMOVE_OWNED: Statement = {
  name: 'destinations.remove_owned',
  // Uses the indexes `destinations_owner_id_idx`, `target_permits_pkey` and `circuits_pkey`.
  text: `
    with removed as (
      delete from destinations where environment_id = $1::int and owner_id = $2::uuid returning environment_id, id,
        headers
    ), permits as (
      delete from target_permits p using removed r where p.environment_id = r.environment_id and p.target_id = r.id
    ), circuits as (
      delete from circuits c using removed r where c.environment_id = r.environment_id and c.target_id = r.id
        returning c.target_id
    )
    select r.id, r.headers, c.target_id is not null as "hadCircuit" from removed r left join circuits c
      on c.target_id = r.id order by r.id`,
};

const RETRY_SCHEDULES: Statement = {
  name: 'destinations.retry_schedules',
  // Reads all destinations of an environment, with the index `destinations_pkey`. Runs only when the environment's
  // retention is changed. Returns few rows, because few destinations have their own schedule.
  text: 'select distinct retry from destinations where environment_id = $1::int and retry is not null',
};

export interface RemovedOwned {
  id: Id;
  headers: Record<string, string>;
  hadCircuit: boolean;
}

/** Stores destinations. The transaction of each change also notifies all nodes, which then invalidate their caches. */
@Injectable()
export class DestinationsStore {
  private readonly rows: TenantRepository<DestinationEntity>;

  constructor(
    private readonly database: Database,
    private readonly notifications: Notifications,
    private readonly clock: Clock,
    private readonly systemEvents: SystemEvents,
    private readonly vault: Vault,
  ) {
    this.rows = new TenantRepository(database, DestinationEntity);
  }

  /** Returns a destination, or null if it does not exist. Uses the index `destinations_pkey`. */
  async find(environmentId: number, id: Id, whose: Whose): Promise<DestinationEntity | null> {
    const row = await this.rows.findOne({ environmentId, id, ownerId: ownerOf(whose) });
    return row && this.opened(row);
  }

  /** Returns the destination, and locks its row until the transaction ends. */
  async findForUpdate(environmentId: number, id: Id, whose: Whose): Promise<DestinationEntity | null> {
    const row = await this.rows.findForUpdate({ environmentId, id, ownerId: ownerOf(whose) });
    return row && this.opened(row);
  }

  /** Returns destinations of any owner, in no particular order. Uses the index `destinations_pkey`. */
  async findAll(environmentId: number, ids: readonly Id[]): Promise<DestinationEntity[]> {
    return (await this.rows.find({ where: { environmentId, id: Any(ids) } })).map((row) => this.opened(row));
  }

  /** Returns a page, newest first. Uses `destinations_listed_idx`, backwards, or `destinations_name_idx`. */
  async page(environmentId: number, filter: DestinationFilter, rowsMax: number): Promise<DestinationEntity[]> {
    const rows = await this.rows.find({ where: listed(environmentId, filter), order: { id: 'DESC' }, take: rowsMax });
    return rows.map((row) => this.opened(row));
  }

  /** Returns the number of destinations that match the filter, up to `max`. Uses the same indexes as `page`. */
  async count(environmentId: number, filter: DestinationFilter, max: number): Promise<number> {
    return (await this.rows.find({ select: { id: true }, where: listed(environmentId, filter), take: max })).length;
  }

  async retrySchedules(environmentId: number): Promise<RetrySettings[]> {
    const rows = await this.database.query<{ retry: RetrySettings }>(RETRY_SCHEDULES, [environmentId]);
    return rows.map(({ retry }) => retry);
  }

  insert(row: DestinationEntity): Promise<void> {
    return this.database.transaction(async () => {
      await this.rows.insert({
        ...row,
        headers: this.sealed(row.environmentId, row.id, row.headers),
      } as ColumnValues<DestinationEntity>);
      await this.announce(row.environmentId, row.id);
    });
  }

  update(
    environmentId: number,
    id: Id,
    changes: Partial<Omit<DestinationEntity, 'environmentId' | 'id' | 'updatedAt'>>,
  ): Promise<void> {
    return this.database.transaction(async () => {
      const sealed = changes.headers && { headers: this.sealed(environmentId, id, changes.headers) };
      const since =
        changes.status === undefined
          ? {}
          : { disabledAt: changes.status === 'active' ? null : (): string => 'coalesce(disabled_at, now())' };
      await this.rows.update({ environmentId, id }, {
        ...changes,
        ...sealed,
        ...since,
        updatedAt: this.clock.now(),
      } as ColumnValues<DestinationEntity>);
      await this.announce(environmentId, id);
    });
  }

  /** Disables a destination after its receiver responded with 410. Does nothing if it is already disabled. */
  disable(environmentId: number, id: Id, reason: string): Promise<void> {
    return this.database.transaction(async () => {
      const [disabled] = await this.database.query<DestinationName>(DISABLE, [
        environmentId,
        id,
        reason,
        this.clock.now(),
      ]);
      if (!disabled) return;
      await this.announce(environmentId, id);
      const details = { ...shownTarget(disabled), reason, by: 'receiver' };
      await this.systemEvents.note({ environmentId, type: 'destination.disabled', subject: id, details });
    });
  }

  /**
   * Removes and returns an owner's destinations. The caller must then release the secrets in the destinations' headers.
   */
  removeOwned(environmentId: number, ownerId: Id): Promise<RemovedOwned[]> {
    return this.database.transaction(async () => {
      const rows = await this.database.query<Omit<RemovedOwned, 'headers'> & { headers: StoredHeaders }>(REMOVE_OWNED, [
        environmentId,
        ownerId,
      ]);
      const removed = rows.map((row) => ({
        ...row,
        headers: openNamed(this.vault, { table: TABLE, environmentId, id: row.id }, row.headers),
      }));
      for (const { id, hadCircuit } of removed) {
        await this.announce(environmentId, id);
        if (hadCircuit) await this.notifications.announce('circuit', `${environmentId}:${id}`);
      }
      return removed;
    });
  }

  /** Deletes a destination. Returns false if it does not exist. The caller must have checked the owner. */
  remove(environmentId: number, id: Id): Promise<boolean> {
    return this.database.transaction(async () => {
      const removed = await this.database.query(REMOVE, [environmentId, id]);
      if (removed.length === 0) return false;
      await this.announce(environmentId, id);
      return true;
    });
  }

  private sealed(environmentId: number, id: Id, headers: Record<string, string>): StoredHeaders {
    return sealNamed(this.vault, { table: TABLE, environmentId, id }, headers);
  }

  private opened(row: DestinationEntity): DestinationEntity {
    const { environmentId, id } = row;
    return { ...row, headers: openNamed(this.vault, { table: TABLE, environmentId, id }, row.headers) };
  }

  private announce(environmentId: number, id: Id): Promise<void> {
    return this.notifications.announce('destination', `${environmentId}:${id}`);
  }
}

function listed(
  environmentId: number,
  { beforeId, type, validation, status, circuit, search }: DestinationFilter,
): TenantWhere<DestinationEntity> {
  const where: TenantWhere<DestinationEntity> = { environmentId, ownerId: IsNull() };
  const ids = [
    ...(beforeId === undefined ? [] : [LessThan(beforeId)]),
    ...(circuit === undefined ? [] : [circuitIs(environmentId, circuit)]),
  ];
  if (ids.length > 0) where.id = And(...ids);
  if (type !== undefined) where.type = type;
  if (validation !== undefined) where.validation = validation;
  if (status !== undefined) where.status = status;
  if (search !== undefined)
    where.name = Raw((name) => `lower(${name}) like :prefix`, { prefix: prefixPattern(search) });
  return where;
}

/**
 * Selects destinations by the state of their circuit. Uses `circuits_shut_idx`. A target without a row in `circuits`
 * has a closed circuit.
 */
function circuitIs(environmentId: number, state: Circuit['state']): FindOperator<Id> {
  const [condition, which] =
    state === 'closed' ? ['not in', `state <> 'closed'`] : ['in', `state <> 'closed' and state = :circuit`];
  return Raw(
    (id) => `${id} ${condition} (select target_id from circuits where environment_id = :circuitsOf and ${which})`,
    {
      circuitsOf: environmentId,
      ...(state !== 'closed' && { circuit: state }),
    },
  ) as FindOperator<Id>;
}

function ownerOf(whose: Whose): ReturnType<typeof IsNull> {
  return whose === 'listed' ? IsNull() : Not(IsNull());
}
