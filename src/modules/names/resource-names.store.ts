import { Injectable } from '@nestjs/common';
import { Database, type Statement } from '#kernel/database/database.js';
import type { Id, IdPrefix } from '#kernel/ids.js';

/** Prefixes of the ids of resources whose names can be looked up. `ep` is any endpoint, `dst` a listed destination. */
export type NamedPrefix = Extract<IdPrefix, 'app' | 'dst' | 'ep'>;

export interface ResourceName {
  prefix: NamedPrefix;
  id: Id;
  /** An application's endpoint is named by its description, or else by the host and path of its URL. */
  name: string;
  /** Type of the destination to which the resource delivers. Null for an inbound endpoint and for an application. */
  type: string | null;
  /** Application of the endpoint. Null for all other resources. */
  applicationId: Id | null;
}

/** A target, as its row in `destinations` names it. The own destination of an application's endpoint has no name. */
export interface NamedTarget {
  id: Id;
  name: string;
  /** Owner of the destination: an application, the destination itself if Posthorn created it, or else null. */
  ownerId: Id | null;
}

/**
 * Uses application_endpoints_pkey and destinations_pkey, endpoints_pkey, destinations_listed_idx, and applications_pkey
 * for each id.
 */
const FIND: Statement = {
  name: 'resource_names.find',
  text: `
    select 'ep' as prefix, a.id, coalesce(nullif(a.description, ''),
        regexp_replace(d.url, '^[a-z]+://([^/@]*@)?|[?#].*$', '', 'g'), d.name, '') as name, d.type,
      a.application_id as "applicationId"
    from application_endpoints a left join destinations d on d.environment_id = a.environment_id
      and d.id = a.destination_id
    where a.environment_id = $1::int and a.id = any($2::uuid[])
    union all
    select 'ep', id, name, null, null from endpoints where environment_id = $1::int and id = any($2::uuid[])
    union all
    select 'dst', id, name, type, null from destinations
    where environment_id = $1::int and id = any($3::uuid[]) and owner_id is null
    union all
    select 'app', id, name, null, null from applications where environment_id = $1::int and id = any($4::uuid[])`,
};

/** Reads the names of many resources with one statement. Decrypts no secrets. */
@Injectable()
export class ResourceNamesStore {
  constructor(private readonly database: Database) {}

  /** Returns the names of the existing resources among the given ids of each prefix, in no particular order. */
  find(environmentId: number, ids: Readonly<Record<NamedPrefix, readonly Id[]>>): Promise<ResourceName[]> {
    return this.database.readPrepared(FIND, [environmentId, ids.ep, ids.dst, ids.app]);
  }

  /** Returns the rows with the names of those targets that are endpoints of applications. */
  async withEndpointNames<Row extends NamedTarget>(environmentId: number, rows: readonly Row[]): Promise<Row[]> {
    const ids = rows.filter(isApplicationEndpoint).map(({ id }) => id);
    if (ids.length === 0) return [...rows];
    const found = await this.find(environmentId, { ep: ids, dst: [], app: [] });
    const names = new Map(found.map(({ id, name }) => [id, name]));
    return rows.map((row) => (isApplicationEndpoint(row) ? { ...row, name: names.get(row.id) ?? row.name } : row));
  }
}

/** Returns whether a target is an endpoint of an application, and not a destination. */
export function isApplicationEndpoint<T extends Pick<NamedTarget, 'id' | 'ownerId'>>(
  target: T,
): target is T & { ownerId: Id } {
  return target.ownerId !== null && target.ownerId !== target.id;
}
