import { isDeepStrictEqual } from 'node:util';
import { Injectable } from '@nestjs/common';
import { Clock } from '#kernel/clock.js';
import { Database } from '#kernel/database/database.js';
import { conflict, invalid, noSuch } from '#kernel/errors.js';
import { type Id, Ids } from '#kernel/ids.js';
import type { Tenant } from '#kernel/tenant.js';
import { Topics } from '#modules/topics/topics.js';
import { contentFaults, type TemplateContent } from './template-content.js';
import type { TemplateEntity, TemplateVersionEntity } from './templates.entities.js';
import { type TemplateView } from './templates.service.js';
import { type TemplateKey, TemplatesStore } from './templates.store.js';

export type TemplateLabels = Pick<TemplateEntity, 'name' | 'alias'>;

const TEMPLATES_MAX = 1_000;
const VERSIONS_MAX = 100;
const NAME_CHARACTERS_MAX = 100;

/**
 * Creates, changes and removes templates. Changed content is stored as a new version. Emails use the published version.
 */
@Injectable()
export class TemplateKeeper {
  constructor(
    private readonly store: TemplatesStore,
    private readonly topics: Topics,
    private readonly database: Database,
    private readonly ids: Ids,
    private readonly clock: Clock,
  ) {}

  /**
   * Creates an unpublished template. Throws 422 for invalid content, and 409 if the alias is in use or there are too
   * many templates.
   */
  async create({ environmentId }: Tenant, labels: TemplateLabels, content: TemplateContent): Promise<TemplateView> {
    refuse(labels, content);
    await this.checkTopic(environmentId, content);
    return this.database.transaction(async () => {
      await this.store.lock(environmentId);
      return this.add(environmentId, labels, content);
    });
  }

  /**
   * Creates an unpublished copy of the latest version, without the alias. Throws 404 for an unknown template, and 409
   * if there are too many.
   */
  duplicate({ environmentId }: Tenant, key: TemplateKey): Promise<TemplateView> {
    return this.database.transaction(async () => {
      // Locks the environment before the template, as `change` does. If the order differed, two transactions could
      // deadlock.
      await this.store.lock(environmentId);
      const { template, content } = await this.locked(environmentId, key);
      const name = `${template.name.slice(0, NAME_CHARACTERS_MAX - 7)} (copy)`;
      return this.add(environmentId, { name, alias: null }, content);
    });
  }

  /**
   * Changes a template. Changed content becomes a new version. Throws 404 for an unknown template, 422 for invalid
   * content, and 409 if the alias is in use.
   */
  change(
    { environmentId }: Tenant,
    key: TemplateKey,
    labels: Partial<TemplateLabels>,
    changes: Partial<TemplateContent>,
  ): Promise<TemplateView> {
    return this.database.transaction(async () => {
      if (typeof labels.alias === 'string') await this.store.lock(environmentId);
      const { template, content } = await this.locked(environmentId, key);
      const changed = { ...content, ...changes };
      refuse(labels, changed);
      await this.checkTopic(environmentId, changes);
      if (typeof labels.alias === 'string') await this.checkAlias(environmentId, labels.alias, template.id);
      return this.save({ ...template, ...labels }, content, changed);
    });
  }

  /**
   * Publishes the latest version, so that emails use it. Throws 404 for an unknown template, and 422 for a template
   * without a body.
   */
  publish({ environmentId }: Tenant, key: TemplateKey): Promise<TemplateView> {
    return this.database.transaction(async () => {
      const { template, content } = await this.locked(environmentId, key);
      if (content.html === null && content.text === null)
        throw invalid([{ path: 'html', message: 'A published template needs html, text, or both.' }]);
      if (template.publishedVersion === template.version) return { template, content };
      const published = { ...template, publishedVersion: template.version, publishedAt: this.clock.now() };
      await this.store.update(published);
      return { template: published, content };
    });
  }

  /**
   * Copies an earlier version into a new, unpublished version. Throws 404 if the template or the earlier version does
   * not exist.
   */
  restore({ environmentId }: Tenant, key: TemplateKey, version: number): Promise<TemplateView> {
    return this.database.transaction(async () => {
      const { template, content } = await this.locked(environmentId, key);
      const restored = await this.store.version(environmentId, template.id, version);
      if (restored === null) throw noSuch('version of this template');
      return this.save(template, content, restored);
    });
  }

  /** Removes a template with its versions. Throws 404 if it does not exist. */
  async remove({ environmentId }: Tenant, key: TemplateKey): Promise<void> {
    const template = await this.store.find(environmentId, key);
    if (template === null || !(await this.store.remove(environmentId, template.id))) throw noSuch('template');
  }

  /** Throws 422 if the content names a topic that does not exist. */
  private async checkTopic(environmentId: number, { unsubscribe }: Partial<TemplateContent>): Promise<void> {
    if (typeof unsubscribe !== 'object' || unsubscribe === null) return;
    const { topic } = unsubscribe;
    if ((await this.topics.idOf(environmentId, topic)) !== null) return;
    const message = `There is no topic ${topic}. Create it with POST /v1/topics.`;
    throw invalid([{ path: 'unsubscribe.topic', message }]);
  }

  private async locked(environmentId: number, key: TemplateKey): Promise<TemplateView> {
    const template = await this.store.findForUpdate(environmentId, key);
    const content = template && (await this.store.version(environmentId, template.id, template.version));
    if (template === null || content === null) throw noSuch('template');
    return { template, content };
  }

  /** Adds a template. The caller's transaction must have locked the environment. */
  private async add(environmentId: number, labels: TemplateLabels, content: TemplateContent): Promise<TemplateView> {
    const id = this.ids.next();
    const count = await this.checkAlias(environmentId, labels.alias, id);
    if (count >= TEMPLATES_MAX)
      throw conflict(`An environment has at most ${TEMPLATES_MAX} templates. Delete one first.`, {
        limit: TEMPLATES_MAX,
      });
    const now = this.clock.now();
    const template: TemplateEntity = {
      environmentId,
      id,
      ...labels,
      version: 1,
      publishedVersion: null,
      publishedAt: null,
      createdAt: now,
      updatedAt: now,
    };
    await this.store.insert(template);
    return { template, content: await this.addVersion(template, content) };
  }

  /** Throws 409 if another template has the alias. Returns the number of templates in the environment. */
  private async checkAlias(environmentId: number, alias: string | null, id: Id): Promise<number> {
    const { count, isTaken } = await this.store.occupancy(environmentId, alias, id);
    if (isTaken)
      throw conflict(`A template with the alias ${alias} already exists. Change it, or choose another alias.`, {
        alias,
      });
    return count;
  }

  private async save(
    template: TemplateEntity,
    before: TemplateVersionEntity,
    after: TemplateContent,
  ): Promise<TemplateView> {
    const isSame = isDeepStrictEqual(contentOf(before), contentOf(after));
    const version = isSame ? template.version : template.version + 1;
    const saved = { ...template, version, updatedAt: this.clock.now() };
    await this.store.update(saved);
    if (isSame) return { template: saved, content: before };
    const content = await this.addVersion(saved, after);
    await this.store.prune(template.environmentId, template.id, VERSIONS_MAX);
    return { template: saved, content };
  }

  private async addVersion(
    { environmentId, id, version, updatedAt }: TemplateEntity,
    content: TemplateContent,
  ): Promise<TemplateVersionEntity> {
    const row = { ...contentOf(content), environmentId, templateId: id, version, createdAt: updatedAt };
    await this.store.insertVersion(row);
    return row;
  }
}

function refuse({ alias }: Partial<TemplateLabels>, content: TemplateContent): void {
  const faults = contentFaults(content);
  if (alias?.startsWith('tpl_') === true) faults.unshift({ path: 'alias', message: 'must not begin with tpl_' });
  if (faults.length > 0) throw invalid(faults);
}

function contentOf({ sender, replyTo, subject, html, text, variables, unsubscribe }: TemplateContent): TemplateContent {
  return { sender, replyTo, subject, html, text, variables, unsubscribe };
}
