import { Injectable } from '@nestjs/common';
import { Database, sqlState, type Statement } from '#kernel/database/database.js';
import type { Id } from '#kernel/ids.js';

export interface OrgRow {
  id: Id;
  slug: string;
  name: string;
  created_at: Date;
  removed_at: Date | null;
  erased_at: Date | null;
}

const COLUMNS = 'id, slug, name, created_at, removed_at, erased_at';
const FOREIGN_KEY = '23503';
const ROWS_AT_ONCE = 2_000;
/**
 * Tables that an erasure keeps. Their rows prove that the organization existed, and show which slug and keys it used.
 */
const KEPT: ReadonlySet<string> = new Set(['environments', 'api_keys', 'audit_log']);

const PAGE: Statement = {
  name: 'orgs.page',
  // Uses the index `organizations_pkey`, backwards.
  text: `select ${COLUMNS} from organizations where $1::uuid is null or id < $1 order by id desc limit $2::int`,
};

const FIND: Statement = { name: 'orgs.find', text: `select ${COLUMNS} from organizations where id = $1::uuid` };

const LOCK_LIVE: Statement = {
  name: 'orgs.lock_live',
  // Locks in a fixed order, so that two concurrent removals do not deadlock.
  text: 'select id from organizations where removed_at is null order by id for update',
};

const REMOVE: Statement = {
  name: 'orgs.remove',
  // Marks an organization as removed. Its slug stays reserved, but URLs with the slug stop working. Uses the index
  // `organizations_pkey`.
  text: `
    with reserved as (
      insert into reserved_slugs (slug, organization_id) select slug, id from organizations where id = $1::uuid
        on conflict (slug) do nothing
    )
    update organizations set removed_at = now(), slug = $2 where id = $1::uuid and removed_at is null returning id`,
};

const REVOKE_KEYS: Statement = {
  name: 'orgs.revoke_keys',
  // Uses the index `api_keys_pkey`, for each environment of the organization.
  text: `
    update api_keys k set revoked_at = now() from environments e
    where e.organization_id = $1::uuid and k.environment_id = e.id and k.revoked_at is null
    returning encode(k.hash, 'hex') as hash`,
};

const REMOVE_MEMBERS: Statement = {
  name: 'orgs.remove_members',
  text: 'update members set removed_at = now() where organization_id = $1::uuid and removed_at is null',
};

const ENVIRONMENTS: Statement = {
  name: 'orgs.environments',
  text: 'select id from environments where organization_id = $1::uuid',
};

const TO_ERASE: Statement = {
  name: 'orgs.to_erase',
  text: 'select id from organizations where removed_at is not null and erased_at is null order by id limit 10',
};

const ERASED: Statement = {
  name: 'orgs.erased',
  text: `update organizations set erased_at = now(), name = 'Removed' where id = $1::uuid and erased_at is null`,
};

/**
 * Selects the tables that contain rows of environments. Omits partitioned tables, because retention drops their
 * partitions.
 */
const TABLES: Statement = {
  name: 'orgs.tables',
  text: `
    select c.relname as name from pg_class c join pg_attribute a on a.attrelid = c.oid
      and a.attname = 'environment_id' and not a.attisdropped
    where c.relnamespace = 'public'::regnamespace and c.relkind = 'r' and not c.relispartition order by 1`,
};

/** Organizations across all tenants, for the operator only. */
@Injectable()
export class OrgsStore {
  constructor(private readonly database: Database) {}

  page(before: Id | null, rowsMax: number): Promise<OrgRow[]> {
    return this.database.query(PAGE, [before, rowsMax]);
  }

  async find(id: Id): Promise<OrgRow | null> {
    return (await this.database.query<OrgRow>(FIND, [id]))[0] ?? null;
  }

  /** Returns the organizations that are not removed, and locks their rows until the transaction ends. */
  async lockLive(): Promise<Id[]> {
    return (await this.database.query<{ id: Id }>(LOCK_LIVE)).map(({ id }) => id);
  }

  /**
   * Removes all access to an organization. The caller must publish the returned keys and environments, so that all
   * nodes evict them from their caches.
   */
  async remove(id: Id, slug: string): Promise<{ keyHashes: string[]; environmentIds: number[] }> {
    await this.database.query(REMOVE, [id, slug]);
    const keys = await this.database.query<{ hash: string }>(REVOKE_KEYS, [id]);
    await this.database.query(REMOVE_MEMBERS, [id]);
    return { keyHashes: keys.map(({ hash }) => hash), environmentIds: await this.environmentsOf(id) };
  }

  async toErase(): Promise<Id[]> {
    return (await this.database.query<{ id: Id }>(TO_ERASE)).map(({ id }) => id);
  }

  async environmentsOf(id: Id): Promise<number[]> {
    return (await this.database.query<{ id: number }>(ENVIRONMENTS, [id])).map((row) => row.id);
  }

  /**
   * Deletes an organization's configuration in batches. Returns false while rows remain because other rows reference
   * them.
   */
  async erase(id: Id): Promise<boolean> {
    const environmentIds = await this.environmentsOf(id);
    const tables = (await this.database.query<{ name: string }>(TABLES))
      .map(({ name }) => name)
      .filter((name) => !KEPT.has(name));
    let isDone = true;
    for (const table of tables)
      isDone = (await this.empty(table, 'environment_id = any($1::int[])', environmentIds)) && isDone;
    for (const table of ['sessions', 'members'])
      isDone = (await this.empty(table, 'organization_id = $1::uuid', id)) && isDone;
    return isDone;
  }

  async erased(id: Id): Promise<void> {
    await this.database.query(ERASED, [id]);
  }

  /** Deletes the matching rows of a table. Returns false if other tables still reference some of these rows. */
  private async empty(table: string, condition: string, value: unknown): Promise<boolean> {
    const name = `"${table}"`;
    try {
      for (;;) {
        const text = `with gone as (delete from ${name} where ctid = any(array(select ctid from ${name} where ${condition} limit ${ROWS_AT_ONCE})) returning 1) select count(*)::int as count from gone`;
        const [row] = await this.database.query<{ count: number }>({ name: `orgs.empty.${table}`, text }, [value]);
        if ((row?.count ?? 0) < ROWS_AT_ONCE) return true;
      }
    } catch (error) {
      if (sqlState(error) === FOREIGN_KEY) return false;
      throw error;
    }
  }
}
