import { Injectable } from '@nestjs/common';
import { IsNull, type Repository } from 'typeorm';
import { Database, type Statement } from '#kernel/database/database.js';
import type { Id } from '#kernel/ids.js';
import type { CatalogOwner } from '#modules/auth/contract.js';
import { EnvironmentEntity, OrganizationEntity } from '../auth.entities.js';

const LOCK_FIRST_START: Statement = {
  name: 'organizations.lock_first_start',
  text: `select pg_advisory_xact_lock(hashtext('posthorn first start'))`,
};

const NEXT_ENVIRONMENT: Statement = {
  name: 'organizations.next_environment',
  text: `select nextval(pg_get_serial_sequence('environments', 'id'))::int as id`,
};

/** Selects the few distinct retention periods of all environments, or the default if there are no environments. */
const RETENTIONS: Statement = {
  name: 'organizations.retentions',
  text: 'select distinct retention_days as days from environments union select 30 where not exists (select from environments)',
};

/** Reads at most two organizations, to detect whether there are several. Uses the index `organizations_pkey`. */
const SEVERAL: Statement = {
  name: 'organizations.several',
  text: 'select 1 from organizations where removed_at is null limit 2',
};

/** Reserves the current slug before the transaction replaces it with the new one. Uses `reserved_slugs_pkey`. */
const RESERVE: Statement = {
  name: 'organizations.reserve_slug',
  text: `
    with given_up as (
      insert into reserved_slugs (slug, organization_id)
      select slug, id from organizations where id = $1 and slug <> $2
      on conflict (slug) do nothing
    )
    select 1 from reserved_slugs where slug = $2 and organization_id <> $1`,
};

const CATALOG_OWNER: Statement = {
  name: 'organizations.catalog_owner',
  // Uses the indexes `organizations_slug_key` and `environments_organization_id_mode_key`.
  text: `
    select e.id as "environmentId", o.name as "organizationName"
    from organizations o join environments e on e.organization_id = o.id
    where o.slug = $1 and e.mode = $2 and e.public_event_catalog`,
};

const ENVIRONMENT_OF: Statement = {
  name: 'organizations.environment_of',
  // Uses the indexes `environments_organization_id_mode_key` and `organizations_pkey`.
  text: `
    select e.id from environments e join organizations o on o.id = e.organization_id
    where e.organization_id = $1::uuid and e.mode = $2 and o.removed_at is null`,
};

@Injectable()
export class OrganizationsStore {
  constructor(private readonly database: Database) {}

  /** Prevents other processes from running their first start until the transaction ends. */
  async lockFirstStart(): Promise<void> {
    await this.database.query(LOCK_FIRST_START);
  }

  async first(): Promise<OrganizationEntity | null> {
    const [first] = await this.organizations().find({ where: { removedAt: IsNull() }, order: { id: 'ASC' }, take: 1 });
    return first ?? null;
  }

  async hasSeveral(): Promise<boolean> {
    return (await this.database.query(SEVERAL)).length > 1;
  }

  /** Returns the organization with this id. Throws if there is none. Uses the index `organizations_pkey`. */
  find(id: Id): Promise<OrganizationEntity> {
    return this.organizations().findOneByOrFail({ id });
  }

  /** Returns the organization with this slug, or null. Uses the index `organizations_slug_key`. */
  findBySlug(slug: string): Promise<OrganizationEntity | null> {
    return this.organizations().findOneBy({ slug, removedAt: IsNull() });
  }

  async insert(row: OrganizationEntity): Promise<void> {
    await this.organizations().insert(row);
  }

  async update(id: Id, changes: Partial<Pick<OrganizationEntity, 'name' | 'slug'>>): Promise<void> {
    await this.organizations().update({ id }, changes);
  }

  /**
   * Reserves the current slug of an organization, so that no other organization can take it later. Returns whether the
   * organization may take the new slug `slug`.
   */
  async reserve(id: Id, slug: string): Promise<boolean> {
    return (await this.database.query(RESERVE, [id, slug])).length === 0;
  }

  /**
   * Returns the number for a new environment before it is inserted, because its secret is encrypted with that number.
   */
  async nextEnvironmentId(): Promise<number> {
    const [next] = await this.database.query<{ id: number }>(NEXT_ENVIRONMENT);
    if (!next) throw new Error('The sequence of environments returned no number.');
    return next.id;
  }

  async insertEnvironment(row: EnvironmentEntity): Promise<void> {
    await this.environments().insert(row);
  }

  /** Returns the environment with this id, or null. Uses the index `environments_pkey`. */
  findEnvironment(id: number): Promise<EnvironmentEntity | null> {
    return this.environments().findOneBy({ id });
  }

  findEnvironmentForUpdate(id: number): Promise<EnvironmentEntity> {
    return this.environments().findOneOrFail({ where: { id }, lock: { mode: 'pessimistic_write' } });
  }

  async updateEnvironment(id: number, changes: Partial<Omit<EnvironmentEntity, 'id'>>): Promise<void> {
    await this.environments().update({ id }, changes);
  }

  /** Returns the environment's id. `null` if there is no such environment or the organization was removed. */
  async environmentIdOf(organizationId: Id, mode: 'live' | 'test'): Promise<number | null> {
    const [environment] = await this.database.query<{ id: number }>(ENVIRONMENT_OF, [organizationId, mode]);
    return environment?.id ?? null;
  }

  /** Returns the environment of a slug if its event types are public, otherwise `null`. */
  async catalogOwner(slug: string, mode: string): Promise<CatalogOwner | null> {
    const [owner] = await this.database.query<CatalogOwner>(CATALOG_OWNER, [slug, mode]);
    return owner ?? null;
  }

  async retentions(): Promise<number[]> {
    return (await this.database.query<{ days: number }>(RETENTIONS)).map(({ days }) => days);
  }

  private organizations(): Repository<OrganizationEntity> {
    return this.database.manager().getRepository(OrganizationEntity);
  }

  private environments(): Repository<EnvironmentEntity> {
    return this.database.manager().getRepository(EnvironmentEntity);
  }
}
