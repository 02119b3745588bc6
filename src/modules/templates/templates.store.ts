import { Injectable } from '@nestjs/common';
import { LessThan } from 'typeorm';
import { Database, type Statement } from '#kernel/database/database.js';
import { TenantRepository, type TenantWhere } from '#kernel/database/tenant-repository.js';
import type { Id } from '#kernel/ids.js';
import { TemplateEntity, TemplateVersionEntity } from './templates.entities.js';

export type TemplateKey = { id: Id } | { alias: string };

/** A version in a list, without the columns that can be large. */
export type ListedVersion = Pick<TemplateVersionEntity, 'version' | 'subject' | 'createdAt'>;

export interface Occupancy {
  count: number;
  isTaken: boolean;
}

const LOCK: Statement = {
  name: 'templates.lock',
  text: `select pg_advisory_xact_lock(hashtext('posthorn templates'), $1::int)`,
};

const OCCUPANCY: Statement = {
  name: 'templates.occupancy',
  // Uses the index templates_alias_idx. An environment has at most 1,000 templates.
  text: `
    select count(*)::int as count, coalesce(bool_or(alias = $2 and id <> $3::uuid), false) as "isTaken"
    from templates where environment_id = $1::int`,
};

const PUBLISHED: Statement = {
  name: 'templates.published',
  // Uses the index templates_pkey.
  text: `
    select id, published_version as "publishedVersion" from templates where environment_id = $1::int and id = $2::uuid`,
};

const PUBLISHED_AS: Statement = {
  name: 'templates.published_as',
  // Uses the index templates_alias_idx.
  text: `
    select id, published_version as "publishedVersion" from templates where environment_id = $1::int and alias = $2`,
};

const PRUNE: Statement = {
  name: 'templates.prune',
  // Uses the index template_versions_pkey.
  text: `
    delete from template_versions v using templates t
    where t.environment_id = $1::int and t.id = $2::uuid and v.environment_id = $1::int and v.template_id = $2::uuid
      and v.version <= t.version - $3::int and v.version is distinct from t.published_version`,
};

/** Stores templates and their versions. */
@Injectable()
export class TemplatesStore {
  private readonly rows: TenantRepository<TemplateEntity>;
  private readonly contents: TenantRepository<TemplateVersionEntity>;

  constructor(private readonly database: Database) {
    this.rows = new TenantRepository(database, TemplateEntity);
    this.contents = new TenantRepository(database, TemplateVersionEntity);
  }

  /** Prevents new templates and changed aliases in the environment until the transaction ends. */
  async lock(environmentId: number): Promise<void> {
    await this.database.query(LOCK, [environmentId]);
  }

  /** Returns the number of templates, and whether a template other than `id` has the alias. */
  async occupancy(environmentId: number, alias: string | null, id: Id): Promise<Occupancy> {
    const [row] = await this.database.query<Occupancy>(OCCUPANCY, [environmentId, alias, id]);
    return row ?? { count: 0, isTaken: false };
  }

  /** Returns a template, or null if it does not exist. Uses the index templates_pkey, or templates_alias_idx. */
  find(environmentId: number, key: TemplateKey): Promise<TemplateEntity | null> {
    return this.rows.findOne({ environmentId, ...key });
  }

  /** Returns the template and locks it against changes until the transaction ends. */
  findForUpdate(environmentId: number, key: TemplateKey): Promise<TemplateEntity | null> {
    return this.rows.findForUpdate({ environmentId, ...key });
  }

  /** Returns the template that an email refers to. Runs for every such email, so it reads no content. */
  async published(
    environmentId: number,
    key: TemplateKey,
  ): Promise<Pick<TemplateEntity, 'id' | 'publishedVersion'> | null> {
    const [statement, value] = 'id' in key ? [PUBLISHED, key.id] : [PUBLISHED_AS, key.alias];
    const rows = await this.database.readPrepared<Pick<TemplateEntity, 'id' | 'publishedVersion'>>(statement, [
      environmentId,
      value,
    ]);
    return rows[0] ?? null;
  }

  /** Returns templates, newest first. Reads the index templates_pkey in descending order. */
  page(environmentId: number, beforeId: Id | undefined, rowsMax: number): Promise<TemplateEntity[]> {
    const where: TenantWhere<TemplateEntity> = { environmentId };
    if (beforeId !== undefined) where.id = LessThan(beforeId);
    return this.rows.find({ where, order: { id: 'DESC' }, take: rowsMax });
  }

  /** Returns a version, or null if it does not exist. Uses the index template_versions_pkey. */
  version(environmentId: number, templateId: Id, version: number): Promise<TemplateVersionEntity | null> {
    return this.contents.findOne({ environmentId, templateId, version });
  }

  /** Returns versions, newest first. Reads the index template_versions_pkey in descending order. */
  versions(
    environmentId: number,
    templateId: Id,
    before: number | undefined,
    rowsMax: number,
  ): Promise<ListedVersion[]> {
    const where: TenantWhere<TemplateVersionEntity> = { environmentId, templateId };
    if (before !== undefined) where.version = LessThan(before);
    const select = { version: true, subject: true, createdAt: true } as const;
    return this.contents.find({ where, select, order: { version: 'DESC' }, take: rowsMax });
  }

  insert(row: TemplateEntity): Promise<void> {
    return this.rows.insert(row);
  }

  async update({ environmentId, id, ...columns }: TemplateEntity): Promise<void> {
    await this.rows.update({ environmentId, id }, columns);
  }

  insertVersion(row: TemplateVersionEntity): Promise<void> {
    return this.contents.insert(row);
  }

  /** Deletes all versions of a template except the `kept` newest versions and the published version. */
  async prune(environmentId: number, id: Id, kept: number): Promise<void> {
    await this.database.query(PRUNE, [environmentId, id, kept]);
  }

  /** Removes a template and its versions. Returns false if it does not exist. Uses the index templates_pkey. */
  async remove(environmentId: number, id: Id): Promise<boolean> {
    return (await this.rows.delete({ environmentId, id })) > 0;
  }
}
