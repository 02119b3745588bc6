import type {
  DeleteResult,
  EntityTarget,
  FindOptionsOrder,
  FindOptionsSelect,
  FindOptionsWhere,
  QueryDeepPartialEntity,
  Repository,
  UpdateResult,
} from 'typeorm';
import type { Id } from '../ids.js';
import type { Database } from './database.js';

/** A row that belongs to an environment, or to an organization as a whole. */
export type TenantRow = { environmentId: number } | { organizationId: Id };

/** The tenant column of a row, which is the first column of its primary key. */
type TenantOf<Row> = Row extends { environmentId: number } ? { environmentId: number } : { organizationId: Id };

/** Conditions of a query. The tenant is a plain value and cannot be omitted. */
export type TenantWhere<Row> = FindOptionsWhere<Omit<Row, 'environmentId' | 'organizationId'>> & TenantOf<Row>;

export interface TenantQuery<Row> {
  where: TenantWhere<Row>;
  order?: FindOptionsOrder<Row>;
  select?: FindOptionsSelect<Row>;
  take?: number;
}

/** New values of columns: values, or functions that return SQL expressions. */
export type ColumnValues<Row> = { [Column in keyof Row]?: Row[Column] | (() => string) };

/**
 * TypeORM's repository for the rows of one tenant. A query without the tenant does not compile.
 *
 * Queries run in the current transaction, if there is one. Otherwise, a write opens a transaction. Inside a unit of
 * work, that transaction stays open until the unit ends.
 */
export class TenantRepository<Row extends TenantRow> {
  constructor(
    private readonly database: Pick<Database, 'manager' | 'transaction'>,
    private readonly entity: EntityTarget<Row>,
  ) {}

  findOne(where: TenantWhere<Row>): Promise<Row | null> {
    return this.rows().findOne({ where: limited(where) });
  }

  /** Finds a row and locks it against changes until the transaction ends. `shared` allows other shared locks. */
  findForUpdate(where: TenantWhere<Row>, lock: 'exclusive' | 'shared' = 'exclusive'): Promise<Row | null> {
    const mode = lock === 'exclusive' ? 'pessimistic_write' : 'pessimistic_read';
    return this.rows().findOne({ where: limited(where), lock: { mode } });
  }

  find({ where, ...options }: TenantQuery<Row>): Promise<Row[]> {
    return this.rows().find({ where: limited(where), ...options });
  }

  count(where: TenantWhere<Row>): Promise<number> {
    return this.rows().countBy(limited(where));
  }

  exists(where: TenantWhere<Row>): Promise<boolean> {
    return this.rows().existsBy(limited(where));
  }

  async insert(row: ColumnValues<Row>): Promise<void> {
    await this.database.transaction(() => this.rows().insert(row as QueryDeepPartialEntity<Row>));
  }

  async insertAll(rows: readonly ColumnValues<Row>[]): Promise<void> {
    if (rows.length === 0) return;
    await this.database.transaction(() => this.rows().insert([...rows] as QueryDeepPartialEntity<Row>[]));
  }

  /** Inserts rows. An existing row with equal values in the columns of `key` is replaced. */
  async upsert(rows: readonly Row[], key: readonly (string & keyof Row)[]): Promise<void> {
    await this.database.transaction(() => this.rows().upsert([...rows] as QueryDeepPartialEntity<Row>[], [...key]));
  }

  /** Returns the number of changed rows. If `where` contains the version, 0 means an optimistic-lock conflict. */
  async update(where: TenantWhere<Row>, changes: ColumnValues<Row>): Promise<number> {
    const result: UpdateResult = await this.database.transaction(() =>
      this.rows().update(limited(where), changes as QueryDeepPartialEntity<Row>),
    );
    return result.affected ?? 0;
  }

  /** Returns the number of deleted rows. */
  async delete(where: TenantWhere<Row>): Promise<number> {
    const result: DeleteResult = await this.database.transaction(() => this.rows().delete(limited(where)));
    return result.affected ?? 0;
  }

  private rows(): Repository<Row> {
    return this.database.manager().getRepository(this.entity);
  }
}

/** Returns the conditions with the tenant first. Throws without a tenant, which untyped code could omit. */
function limited<Row extends TenantRow>(where: TenantWhere<Row>): FindOptionsWhere<Row> {
  const { environmentId, organizationId, ...rest } = where as { environmentId?: unknown; organizationId?: unknown };
  const tenant = environmentId === undefined ? { organizationId } : { environmentId };
  const [value] = Object.values(tenant);
  if (typeof value !== 'number' && typeof value !== 'string') throw new Error('A query must name one tenant.');
  return { ...tenant, ...rest } as FindOptionsWhere<Row>;
}
