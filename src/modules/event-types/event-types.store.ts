import { Injectable } from '@nestjs/common';
import { Database, type Statement } from '#kernel/database/database.js';
import { Notifications } from '#kernel/database/notifications.js';
import { TenantRepository } from '#kernel/database/tenant-repository.js';
import type { Id } from '#kernel/ids.js';
import { EventTypeEntity } from './event-types.entities.js';

/** An event type in a list, without the columns that can be large. */
export type ListedType = Omit<EventTypeEntity, 'schema' | 'example' | 'bytes'> & { hasSchema: boolean };

/** A stored schema version. `schema` is null for a version without a schema. */
export interface TypeVersion {
  version: number;
  schema: Record<string, unknown> | null;
  createdAt: Date;
}

/** Filter of a list. A null field does not filter. */
export interface TypeFilter {
  group: string | null;
  archived: boolean | null;
}

export interface EnforcedType {
  id: Id;
  name: string;
  version: number;
  bytes: number;
}

const LISTED = `
  environment_id as "environmentId", name, id, version, description, group_name as "group", enforce, archived,
  schema is not null as "hasSchema", created_at as "createdAt", updated_at as "updatedAt"`;

const LOCK: Statement = {
  name: 'event_types.lock',
  text: `select pg_advisory_xact_lock(hashtext('posthorn event types'), $1::int)`,
};

const PAGE: Statement = {
  name: 'event_types.page',
  // Reads the index event_types_environment_id_id_key in descending order.
  text: `
    select ${LISTED} from event_types
    where environment_id = $1::int and ($2::uuid is null or id < $2::uuid)
      and ($3::text is null or group_name = $3) and ($4::bool is null or archived = $4)
    order by id desc limit $5::int`,
};

const VERSIONS: Statement = {
  name: 'event_types.versions',
  // Reads the index event_type_versions_pkey in descending order.
  text: `
    select version, schema, created_at as "createdAt" from event_type_versions
    where environment_id = $1::int and name = $2 and ($3::int is null or version < $3::int)
    order by version desc limit $4::int`,
};

const KEEP_VERSIONS: Statement = {
  name: 'event_types.keep_versions',
  // Uses the index event_types_pkey. Does not change a version that is already stored.
  text: `
    insert into event_type_versions (environment_id, name, version, schema, created_at)
    select environment_id, name, version, schema, updated_at from event_types
    where environment_id = $1::int and name = any($2::text[])
    on conflict do nothing`,
};

const ENFORCED: Statement = {
  name: 'event_types.enforced',
  // Uses the index event_types_pkey. An environment has at most 1,000 event types.
  text: 'select id, name, version, bytes from event_types where environment_id = $1::int and enforce',
};

const CATALOG: Statement = {
  name: 'event_types.catalog',
  // Uses the index event_types_pkey. Reads schemas and examples up to $2 bytes in total and omits the rest.
  text: `
    select name, version, description, "group", enforce, "hasSchema", sum <= $2 as "isComplete",
      case when sum <= $2 then schema end as schema, case when sum <= $2 then example end as example
    from (
      select name, version, description, group_name as "group", enforce, schema, example,
        schema is not null as "hasSchema",
        sum(bytes) over (order by group_name nulls last, name) as sum
      from event_types where environment_id = $1::int and not archived
    ) as types
    order by "group" nulls last, name`,
};

/** A type in the catalog. Schema and example are absent if they were omitted because of their size. */
export interface CatalogRow extends Pick<
  EventTypeEntity,
  'name' | 'version' | 'description' | 'group' | 'enforce' | 'schema' | 'example'
> {
  hasSchema: boolean;
  isComplete: boolean;
}

/** Stores event types. Each change also stores the schema as a version, and notifies all nodes on commit. */
@Injectable()
export class EventTypesStore {
  private readonly rows: TenantRepository<EventTypeEntity>;

  constructor(
    private readonly database: Database,
    private readonly notifications: Notifications,
  ) {
    this.rows = new TenantRepository(database, EventTypeEntity);
  }

  /** Locks the event types of an environment until the transaction ends. */
  async lock(environmentId: number): Promise<void> {
    await this.database.query(LOCK, [environmentId]);
  }

  /** Returns an event type, or null. Uses the index event_types_pkey. */
  find(environmentId: number, name: string): Promise<EventTypeEntity | null> {
    return this.rows.findOne({ environmentId, name });
  }

  /** Returns all event types of the environment, at most 1,000. */
  all(environmentId: number): Promise<EventTypeEntity[]> {
    return this.rows.find({ where: { environmentId } });
  }

  count(environmentId: number): Promise<number> {
    return this.rows.count({ environmentId });
  }

  /** Returns event types, newest first. */
  page(
    environmentId: number,
    { group, archived }: TypeFilter,
    beforeId: Id | null,
    rowsMax: number,
  ): Promise<ListedType[]> {
    return this.database.query<ListedType>(PAGE, [environmentId, beforeId, group, archived, rowsMax]);
  }

  /** Returns the versions of an event type, newest first. */
  versions(environmentId: number, name: string, beforeVersion: number | null, rowsMax: number): Promise<TypeVersion[]> {
    return this.database.query<TypeVersion>(VERSIONS, [environmentId, name, beforeVersion, rowsMax]);
  }

  enforced(environmentId: number): Promise<EnforcedType[]> {
    return this.database.query<EnforcedType>(ENFORCED, [environmentId]);
  }

  /** Returns event types that are not archived, ordered by group and name. */
  catalog(environmentId: number, bytesMax: number): Promise<CatalogRow[]> {
    return this.database.query<CatalogRow>(CATALOG, [environmentId, bytesMax]);
  }

  /** Saves event types. An existing event type with the same name as a saved one is replaced. */
  async save(environmentId: number, rows: readonly EventTypeEntity[]): Promise<void> {
    if (rows.length === 0) return;
    await this.database.transaction(async () => {
      await this.rows.upsert(rows, ['environmentId', 'name']);
      await this.database.query(KEEP_VERSIONS, [environmentId, rows.map(({ name }) => name)]);
      await this.announce(environmentId);
    });
  }

  /** Removes an event type and its versions. Returns false if it does not exist. */
  remove(environmentId: number, name: string): Promise<boolean> {
    return this.database.transaction(async () => {
      if ((await this.rows.delete({ environmentId, name })) === 0) return false;
      await this.announce(environmentId);
      return true;
    });
  }

  private announce(environmentId: number): Promise<void> {
    return this.notifications.announce('event_type', String(environmentId));
  }
}
