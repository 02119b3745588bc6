import { Injectable } from '@nestjs/common';
import { Database, type Statement } from '#kernel/database/database.js';
import { Notifications } from '#kernel/database/notifications.js';
import { TenantRepository } from '#kernel/database/tenant-repository.js';
import type { Id } from '#kernel/ids.js';
import type { EndpointAddress } from './contract.js';
import { EndpointEntity, RouteEntity } from './endpoints.entities.js';

/** Selects the endpoint at the longest of the given paths. Uses the index `endpoints_path_idx`. */
const AT: Statement = {
  name: 'endpoints_at',
  text: `
    select environment_id as "environmentId", id, path from endpoints
    where domain_id is null and path = any ($1::text[]) order by length(path) desc limit 1`,
};

/** Selects the endpoint of a custom domain at the longest of the given paths. Uses the index `endpoints_path_idx`. */
const AT_DOMAIN: Statement = {
  name: 'endpoints_at_domain',
  text: `
    select environment_id as "environmentId", id, path from endpoints
    where domain_id = $2 and path = any ($1::text[]) order by length(path) desc limit 1`,
};

/** Uses the index `endpoints_pkey`. */
const SET_FIRST_SECRETS: Statement = {
  name: 'endpoints_set_first_secrets',
  text: `
    update endpoints set secrets = $3, version = version + 1, updated_at = now()
    where environment_id = $1 and id = $2 and secrets is null returning id`,
};

@Injectable()
export class ConfigurationsStore {
  private readonly endpoints: TenantRepository<EndpointEntity>;
  private readonly routeRows: TenantRepository<RouteEntity>;

  constructor(
    private readonly database: Database,
    private readonly notifications: Notifications,
  ) {
    this.endpoints = new TenantRepository(database, EndpointEntity);
    this.routeRows = new TenantRepository(database, RouteEntity);
  }

  async at(paths: readonly string[], domainId: Id | null): Promise<EndpointAddress | null> {
    // Uses the connections of `queryPrepared`, because all connections for lists and counts may be busy for seconds.
    const [row] = await (domainId === null
      ? this.database.queryPrepared<EndpointAddress>(AT, [paths])
      : this.database.queryPrepared<EndpointAddress>(AT_DOMAIN, [paths, domainId]));
    return row ?? null;
  }

  /** Returns an endpoint, or null. Uses the index `endpoints_pkey`. */
  find(environmentId: number, id: Id): Promise<EndpointEntity | null> {
    return this.endpoints.findOne({ environmentId, id });
  }

  /** Stores the first secrets in the caller's transaction. Returns false if secrets exist or the endpoint does not. */
  async setFirstSecrets(environmentId: number, id: Id, secrets: Buffer): Promise<boolean> {
    const set = await this.database.query(SET_FIRST_SECRETS, [environmentId, id, secrets]);
    if (set.length > 0) await this.notifications.announce('endpoint', `${environmentId}:${id}`);
    return set.length > 0;
  }

  /** Returns routes in the order of evaluation. Uses the index `routes_endpoint_id_idx`. */
  routes(environmentId: number, endpointId: Id): Promise<RouteEntity[]> {
    return this.routeRows.find({ where: { environmentId, endpointId }, order: { position: 'ASC', id: 'ASC' } });
  }
}
