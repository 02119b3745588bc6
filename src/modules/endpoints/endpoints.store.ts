import { Injectable } from '@nestjs/common';
import { And, type FindOperator, type FindOptionsSelect, In, LessThan, Raw } from 'typeorm';
import { Clock } from '#kernel/clock.js';
import { Database, sqlState, type Statement } from '#kernel/database/database.js';
import { Notifications } from '#kernel/database/notifications.js';
import { prefixPattern } from '#kernel/database/prefix.js';
import { TenantRepository, type TenantWhere } from '#kernel/database/tenant-repository.js';
import { conflict } from '#kernel/errors.js';
import type { Id } from '#kernel/ids.js';
import { EndpointEntity, RouteEntity } from './endpoints.entities.js';

export interface EndpointFilter {
  status?: EndpointEntity['status'];
  preset?: string;
  /** Search text: prefix of the name, or of the path after the organization's slug, ignoring case. */
  search?: string;
  beforeId?: Id;
}

/** An endpoint in a list, without its code and rules, which may be long. */
export type ListedEndpoint = Pick<EndpointEntity, keyof typeof LISTED>;

export type EndpointColumns = Partial<Omit<EndpointEntity, 'environmentId' | 'id' | 'createdAt' | 'updatedAt'>>;

const LISTED = {
  environmentId: true,
  id: true,
  name: true,
  domainId: true,
  path: true,
  preset: true,
  verification: true,
  secrets: true,
  status: true,
  version: true,
  createdAt: true,
  updatedAt: true,
} as const satisfies FindOptionsSelect<EndpointEntity>;
const UNIQUE_VIOLATION = '23505';
const FOREIGN_KEY_VIOLATION = '23503';

const LOCK: Statement = {
  name: 'endpoints.lock',
  text: `select pg_advisory_xact_lock(hashtext('posthorn endpoints'), $1::int)`,
};

const ID_AT: Statement = {
  name: 'endpoints_own_at',
  // Uses the index `endpoints_path_idx`.
  text: 'select id from endpoints where domain_id is null and path = $2 and environment_id = $1',
};

/** Stores endpoints and routes. The transaction of each change also notifies all nodes, to invalidate their caches. */
@Injectable()
export class EndpointsStore {
  private readonly endpoints: TenantRepository<EndpointEntity>;
  private readonly routeRows: TenantRepository<RouteEntity>;

  constructor(
    private readonly database: Database,
    private readonly notifications: Notifications,
    private readonly clock: Clock,
  ) {
    this.endpoints = new TenantRepository(database, EndpointEntity);
    this.routeRows = new TenantRepository(database, RouteEntity);
  }

  /** Prevents concurrent inserts of endpoints into the environment until the transaction ends. */
  async lock(environmentId: number): Promise<void> {
    await this.database.query(LOCK, [environmentId]);
  }

  /** Returns the number of endpoints of an environment. Uses the index `endpoints_pkey`. */
  count(environmentId: number): Promise<number> {
    return this.endpoints.count({ environmentId });
  }

  /** Returns an endpoint, or null. Uses the index `endpoints_pkey`. */
  find(environmentId: number, id: Id): Promise<EndpointEntity | null> {
    return this.endpoints.findOne({ environmentId, id });
  }

  /** Returns an endpoint, and locks it and its routes until the transaction ends. */
  findForUpdate(environmentId: number, id: Id): Promise<EndpointEntity | null> {
    return this.endpoints.findForUpdate({ environmentId, id });
  }

  async idAt(environmentId: number, path: string): Promise<Id | null> {
    const [row] = await this.database.readPrepared<{ id: Id }>(ID_AT, [environmentId, path]);
    return row?.id ?? null;
  }

  /** Returns a page of endpoints, newest first. Reads `endpoints_pkey` backwards and filters at most 10,000 rows. */
  page(environmentId: number, filter: EndpointFilter, rowsMax: number): Promise<ListedEndpoint[]> {
    return this.endpoints.find({
      select: LISTED,
      where: listed(environmentId, filter),
      order: { id: 'DESC' },
      take: rowsMax,
    });
  }

  /** Returns the number of endpoints that match the filter, up to `max`. Uses the same index as `page`. */
  async countListed(environmentId: number, filter: EndpointFilter, max: number): Promise<number> {
    return (await this.endpoints.find({ select: { id: true }, where: listed(environmentId, filter), take: max }))
      .length;
  }

  /** Returns routes in their order within each endpoint. Uses the index `routes_endpoint_id_idx`. */
  async routes(environmentId: number, endpointIds: readonly Id[]): Promise<RouteEntity[]> {
    const where = { environmentId, endpointId: In(endpointIds) };
    const rows = await this.routeRows.find({ where, order: { endpointId: 'ASC', position: 'ASC' } });
    // Converts rows to plain objects, so that a deep comparison with unchanged routes succeeds.
    return rows.map((row) => ({ ...row }));
  }

  /** Returns up to `max` routes to the destination. Uses the index `routes_destination_id_idx`. */
  routesTo(environmentId: number, destinationId: Id, max: number): Promise<RouteEntity[]> {
    return this.routeRows.find({ where: { environmentId, destinationId }, order: { id: 'ASC' }, take: max });
  }

  /** Returns the ids of up to `max` endpoints on a domain. Uses the index `endpoints_domain_id_idx`. */
  async onDomain(environmentId: number, domainId: Id, max: number): Promise<Id[]> {
    const where = { environmentId, domainId };
    const rows = await this.endpoints.find({ select: { id: true }, where, order: { id: 'ASC' }, take: max });
    return rows.map(({ id }) => id);
  }

  /** Inserts an endpoint. Returns false and aborts the transaction if its path exists (`endpoints_path_idx`). */
  insert(row: EndpointEntity): Promise<boolean> {
    return this.written(row.environmentId, row.id, () => this.endpoints.insert(row));
  }

  /**
   * Changes an endpoint and returns its row. If another endpoint has the new path, returns `null` and aborts the
   * transaction.
   */
  async update(row: EndpointEntity, changes: EndpointColumns): Promise<EndpointEntity | null> {
    const { environmentId, id } = row;
    const columns = { ...changes, updatedAt: this.clock.now() };
    const write = (): Promise<unknown> => this.endpoints.update({ environmentId, id }, columns);
    return (await this.written(environmentId, id, write)) ? { ...row, ...columns } : null;
  }

  /**
   * Replaces the routes of an endpoint in the caller's transaction. The caller must increment the version. Uses the
   * index `routes_endpoint_id_idx`.
   */
  async replaceRoutes(environmentId: number, endpointId: Id, rows: readonly RouteEntity[]): Promise<void> {
    await this.routeRows.delete({ environmentId, endpointId });
    await this.routeRows.insertAll(rows);
  }

  /**
   * Deletes an endpoint and its routes. Returns false if the endpoint does not exist. Uses the index `endpoints_pkey`,
   * and `routes_endpoint_id_idx` for the cascade.
   */
  remove(environmentId: number, id: Id): Promise<boolean> {
    return this.database.transaction(async () => {
      if ((await this.endpoints.delete({ environmentId, id })) === 0) return false;
      await this.announce(environmentId, id);
      return true;
    });
  }

  private written(environmentId: number, id: Id, write: () => Promise<unknown>): Promise<boolean> {
    return this.database.transaction(async () => {
      try {
        await write();
      } catch (error) {
        if (sqlState(error) === UNIQUE_VIOLATION) return false;
        // The domain was deleted after the caller chose it.
        if (sqlState(error) === FOREIGN_KEY_VIOLATION)
          throw conflict('The domain of this endpoint was deleted in the meantime. Choose another one.');
        throw error;
      }
      await this.announce(environmentId, id);
      return true;
    });
  }

  private announce(environmentId: number, id: Id): Promise<void> {
    return this.notifications.announce('endpoint', `${environmentId}:${id}`);
  }
}

function listed(
  environmentId: number,
  { beforeId, status, preset, search }: EndpointFilter,
): TenantWhere<EndpointEntity> {
  const where: TenantWhere<EndpointEntity> = { environmentId };
  const ids = [
    ...(beforeId === undefined ? [] : [LessThan(beforeId)]),
    ...(search === undefined ? [] : [beginningWith(environmentId, search)]),
  ];
  if (ids.length > 0) where.id = And(...ids);
  if (status !== undefined) where.status = status;
  if (preset !== undefined) where.preset = preset;
  return where;
}

/** Selects endpoints whose name, or whose path without the organization's slug, begins with `search`. */
function beginningWith(environmentId: number, search: string): FindOperator<Id> {
  const slug = `case when e.domain_id is null then substring(e.path from position('/' in e.path) + 1) else e.path end`;
  const found = `select e.id from endpoints e where e.environment_id = :searchedIn and (lower(e.name) like :prefix or lower(${slug}) like :prefix)`;
  return Raw((id) => `${id} in (${found})`, {
    searchedIn: environmentId,
    prefix: prefixPattern(search),
  }) as FindOperator<Id>;
}
