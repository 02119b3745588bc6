import { Injectable } from '@nestjs/common';
import {
  And,
  type FindOperator,
  type FindOptionsSelect,
  type FindOptionsWhere,
  In,
  LessThan,
  type QueryDeepPartialEntity,
  Raw,
  type Repository,
} from 'typeorm';
import { Clock } from '#kernel/clock.js';
import { Database, sqlState, type Statement } from '#kernel/database/database.js';
import { Notifications } from '#kernel/database/notifications.js';
import { prefixPattern } from '#kernel/database/prefix.js';
import { conflict } from '#kernel/errors.js';
import type { Id } from '#kernel/ids.js';
import { EndpointEntity, RouteEntity } from './endpoints.entities.js';

/** Which endpoints a list shows. */
export interface EndpointFilter {
  status?: EndpointEntity['status'];
  preset?: string;
  /** What the name, or the path behind the organization's slug, begins with, whatever the case. */
  search?: string;
  beforeId?: Id;
}

/** What a list shows of an endpoint: without code and rules, which may be long. */
export type ListedEndpoint = Pick<EndpointEntity, keyof typeof LISTED>;

/** What a change may touch. */
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

const COUNT: Statement = {
  name: 'endpoints.count',
  // Index endpoints_pkey.
  text: 'select count(*)::int as count from endpoints where environment_id = $1::int',
};

const REMOVE: Statement = {
  name: 'endpoints.remove',
  // Indexes endpoints_pkey and, for the cascade, routes_endpoint_id_idx.
  text: 'delete from endpoints where environment_id = $1::int and id = $2::uuid returning id',
};

const REMOVE_ROUTES: Statement = {
  name: 'endpoints.remove_routes',
  // Index routes_endpoint_id_idx.
  text: 'delete from routes where environment_id = $1::int and endpoint_id = $2::uuid',
};

const ID_AT: Statement = {
  name: 'endpoints_own_at',
  // Index endpoints_path_idx.
  text: 'select id from endpoints where domain_id is null and path = $2 and environment_id = $1',
};

const ON_DOMAIN: Statement = {
  name: 'endpoints.on_domain',
  // Index endpoints_domain_id_idx.
  text: 'select id from endpoints where environment_id = $1::int and domain_id = $2::uuid order by id limit $3::int',
};

/** Endpoints and their routes. Every change is announced in its own transaction: no node goes on with what it remembers. */
@Injectable()
export class EndpointsStore {
  constructor(
    private readonly database: Database,
    private readonly notifications: Notifications,
    private readonly clock: Clock,
  ) {}

  /** Until the transaction ends, nobody else adds an endpoint to the environment. */
  async lock(environmentId: number): Promise<void> {
    await this.database.query(LOCK, [environmentId]);
  }

  async count(environmentId: number): Promise<number> {
    const [row] = await this.database.query<{ count: number }>(COUNT, [environmentId]);
    return row?.count ?? 0;
  }

  /** Index endpoints_pkey. */
  find(environmentId: number, id: Id): Promise<EndpointEntity | null> {
    return this.endpoints().findOneBy({ environmentId, id });
  }

  /** The same, and nobody else changes it or its routes until the transaction ends. */
  findForUpdate(environmentId: number, id: Id): Promise<EndpointEntity | null> {
    return this.endpoints().findOne({ where: { environmentId, id }, lock: { mode: 'pessimistic_write' } });
  }

  /** The environment's own endpoint that lives exactly here; null when none does. */
  async idAt(environmentId: number, path: string): Promise<Id | null> {
    const [row] = await this.database.readPrepared<{ id: Id }>(ID_AT, [environmentId, path]);
    return row?.id ?? null;
  }

  /** Newest first. Index endpoints_pkey, backwards; filters are applied on the way, over the 10,000 that an environment has at most. */
  page(environmentId: number, filter: EndpointFilter, rowsMax: number): Promise<ListedEndpoint[]> {
    return this.endpoints().find({
      select: LISTED,
      where: listed(environmentId, filter),
      order: { id: 'DESC' },
      take: rowsMax,
    });
  }

  /** How many a list has, `max` at most. Index as above. */
  async countListed(environmentId: number, filter: EndpointFilter, max: number): Promise<number> {
    return (await this.endpoints().find({ select: { id: true }, where: listed(environmentId, filter), take: max }))
      .length;
  }

  /** The routes of these endpoints, each endpoint's in their order. Index routes_endpoint_id_idx. */
  async routes(environmentId: number, endpointIds: readonly Id[]): Promise<RouteEntity[]> {
    const where = { environmentId, endpointId: In(endpointIds) };
    const rows = await this.routeRows().find({ where, order: { endpointId: 'ASC', position: 'ASC' } });
    // Plain objects, so that they are equal to what a change makes of them when that is the same.
    return rows.map((row) => ({ ...row }));
  }

  /** The first routes that lead to a destination. Index routes_destination_id_idx. */
  routesTo(environmentId: number, destinationId: Id, max: number): Promise<RouteEntity[]> {
    return this.routeRows().find({ where: { environmentId, destinationId }, order: { id: 'ASC' }, take: max });
  }

  /** The first endpoints that live on a domain. */
  async onDomain(environmentId: number, domainId: Id, max: number): Promise<Id[]> {
    return (await this.database.query<{ id: Id }>(ON_DOMAIN, [environmentId, domainId, max])).map(({ id }) => id);
  }

  /** False when another endpoint lives at its path (endpoints_path_idx): the transaction is lost then. */
  insert(row: EndpointEntity): Promise<boolean> {
    return this.written(row.environmentId, row.id, () =>
      this.endpoints().insert(row as QueryDeepPartialEntity<EndpointEntity>),
    );
  }

  /** The row after the changes; null when another endpoint lives at its new path: the transaction is lost then. */
  async update(row: EndpointEntity, changes: EndpointColumns): Promise<EndpointEntity | null> {
    const { environmentId, id } = row;
    const columns = { ...changes, updatedAt: this.clock.now() };
    const write = (): Promise<unknown> =>
      this.endpoints().update({ environmentId, id }, columns as QueryDeepPartialEntity<EndpointEntity>);
    return (await this.written(environmentId, id, write)) ? { ...row, ...columns } : null;
  }

  /** Puts these in the place of an endpoint's routes, in the caller's transaction. Whoever changes routes changes the version. */
  async replaceRoutes(environmentId: number, endpointId: Id, rows: readonly RouteEntity[]): Promise<void> {
    await this.database.query(REMOVE_ROUTES, [environmentId, endpointId]);
    if (rows.length > 0) await this.routeRows().insert(rows as QueryDeepPartialEntity<RouteEntity>[]);
  }

  /** With its routes. False when there is none. */
  remove(environmentId: number, id: Id): Promise<boolean> {
    return this.database.transaction(async () => {
      const removed = await this.database.query(REMOVE, [environmentId, id]);
      if (removed.length === 0) return false;
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
        // The domain was deleted after it was chosen.
        if (sqlState(error) === FOREIGN_KEY_VIOLATION)
          throw conflict('The domain of this endpoint was deleted meanwhile. Choose another one.');
        throw error;
      }
      await this.announce(environmentId, id);
      return true;
    });
  }

  private announce(environmentId: number, id: Id): Promise<void> {
    return this.notifications.announce('endpoint', `${environmentId}:${id}`);
  }

  private endpoints(): Repository<EndpointEntity> {
    return this.database.manager().getRepository(EndpointEntity);
  }

  private routeRows(): Repository<RouteEntity> {
    return this.database.manager().getRepository(RouteEntity);
  }
}

function listed(
  environmentId: number,
  { beforeId, status, preset, search }: EndpointFilter,
): FindOptionsWhere<EndpointEntity> {
  const where: FindOptionsWhere<EndpointEntity> = { environmentId };
  const ids = [
    ...(beforeId === undefined ? [] : [LessThan(beforeId)]),
    ...(search === undefined ? [] : [beginningWith(environmentId, search)]),
  ];
  if (ids.length > 0) where.id = And(...ids);
  if (status !== undefined) where.status = status;
  if (preset !== undefined) where.preset = preset;
  return where;
}

/** On the platform's host a path begins with the organization's slug, which is no part of the endpoint's. */
function beginningWith(environmentId: number, search: string): FindOperator<Id> {
  const slug = `case when e.domain_id is null then substring(e.path from position('/' in e.path) + 1) else e.path end`;
  const found = `select e.id from endpoints e where e.environment_id = :searchedIn and (lower(e.name) like :prefix or lower(${slug}) like :prefix)`;
  return Raw((id) => `${id} in (${found})`, {
    searchedIn: environmentId,
    prefix: prefixPattern(search),
  }) as FindOperator<Id>;
}
