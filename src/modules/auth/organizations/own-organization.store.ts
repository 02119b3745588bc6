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

/** All environments, once: a handful of numbers. Before there are any, that which the first ones get. */
const RETENTIONS: Statement = {
  name: 'organizations.retentions',
  text: 'select distinct retention_days as days from environments union select 30 where not exists (select from environments)',
};

/** Two rows of index organizations_pkey. */
const SEVERAL: Statement = {
  name: 'organizations.several',
  text: 'select 1 from organizations where removed_at is null limit 2',
};

/** Index reserved_slugs_pkey. The slug of now is given up by the change that follows in the transaction. */
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
  // Indexes organizations_slug_key and environments_organization_id_mode_key.
  text: `
    select e.id as "environmentId", o.name as "organizationName"
    from organizations o join environments e on e.organization_id = o.id
    where o.slug = $1 and e.mode = $2 and e.public_event_catalog`,
};

const ENVIRONMENT_OF: Statement = {
  name: 'organizations.environment_of',
  // Indexes environments_organization_id_mode_key and organizations_pkey.
  text: `
    select e.id from environments e join organizations o on o.id = e.organization_id
    where e.organization_id = $1::uuid and e.mode = $2 and o.removed_at is null`,
};

/** Organizations and their environments. */
@Injectable()
export class OrganizationsStore {
  constructor(private readonly database: Database) {}

  /** Until the transaction ends, no other process is in its first start. */
  async lockFirstStart(): Promise<void> {
    await this.database.query(LOCK_FIRST_START);
  }

  /** The oldest organization of the installation that was not removed. */
  async first(): Promise<OrganizationEntity | null> {
    const [first] = await this.organizations().find({ where: { removedAt: IsNull() }, order: { id: 'ASC' }, take: 1 });
    return first ?? null;
  }

  /** Returns true if there is more than one organization that was not removed. */
  async hasSeveral(): Promise<boolean> {
    return (await this.database.query(SEVERAL)).length > 1;
  }

  /** Index organizations_pkey. */
  find(id: Id): Promise<OrganizationEntity> {
    return this.organizations().findOneByOrFail({ id });
  }

  /** Index organizations_slug_key. */
  findBySlug(slug: string): Promise<OrganizationEntity | null> {
    return this.organizations().findOneBy({ slug, removedAt: IsNull() });
  }

  async insert(row: OrganizationEntity): Promise<void> {
    await this.organizations().insert(row);
  }

  async update(id: Id, changes: Partial<Pick<OrganizationEntity, 'name' | 'slug'>>): Promise<void> {
    await this.organizations().update({ id }, changes);
  }

  /** Reserves the organization's slug for it, in the transaction that gives it up for `slug`; false when that is another one's. */
  async isReservedFor(id: Id, slug: string): Promise<boolean> {
    return (await this.database.query(RESERVE, [id, slug])).length === 0;
  }

  /** The number of an environment yet to be inserted: its secret is sealed for that number. */
  async nextEnvironmentId(): Promise<number> {
    const [next] = await this.database.query<{ id: number }>(NEXT_ENVIRONMENT);
    if (!next) throw new Error('The sequence of environments gave no number.');
    return next.id;
  }

  async insertEnvironment(row: EnvironmentEntity): Promise<void> {
    await this.environments().insert(row);
  }

  /** Index environments_pkey. */
  findEnvironment(id: number): Promise<EnvironmentEntity | null> {
    return this.environments().findOneBy({ id });
  }

  /** The same, and nobody else changes it until the transaction ends. */
  findEnvironmentForUpdate(id: number): Promise<EnvironmentEntity> {
    return this.environments().findOneOrFail({ where: { id }, lock: { mode: 'pessimistic_write' } });
  }

  async updateEnvironment(id: number, changes: Partial<Omit<EnvironmentEntity, 'id'>>): Promise<void> {
    await this.environments().update({ id }, changes);
  }

  /** Null also when the organization was removed. */
  async environmentIdOf(organizationId: Id, mode: 'live' | 'test'): Promise<number | null> {
    const [environment] = await this.database.query<{ id: number }>(ENVIRONMENT_OF, [organizationId, mode]);
    return environment?.id ?? null;
  }

  /** The environment of a slug, when its event types are public. */
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
