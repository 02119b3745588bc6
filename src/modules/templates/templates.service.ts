import { Injectable } from '@nestjs/common';
import { type CursorQuery, Cursors, type Page, type PageQuery } from '#kernel/cursors.js';
import { invalid, noSuch } from '#kernel/errors.js';
import type { Tenant } from '#kernel/tenant.js';
import { parseContent } from './template-content.js';
import { renderContent, type RenderedContent } from './template-rendering.js';
import type { TemplateEntity, TemplateVersionEntity } from './templates.entities.js';
import { type ListedVersion, type TemplateKey, TemplatesStore } from './templates.store.js';

export interface TemplateView {
  template: TemplateEntity;
  content: TemplateVersionEntity;
}

const LIMIT_DEFAULT = 50;

@Injectable()
export class TemplatesService {
  constructor(
    private readonly store: TemplatesStore,
    private readonly cursors: Cursors,
  ) {}

  async list(tenant: Tenant, { cursor, limit = LIMIT_DEFAULT }: PageQuery): Promise<Page<TemplateEntity>> {
    const list: CursorQuery = { list: 'templates', filters: {} };
    const beforeId = cursor === undefined ? undefined : this.cursors.read(tenant, list, cursor);
    const rows = await this.store.page(tenant.environmentId, beforeId, limit + 1);
    return this.cursors.page(tenant, list, rows, limit, ({ id }) => id);
  }

  /** Returns a template with the content of a version, by default the latest. Throws 404 if either does not exist. */
  async find({ environmentId }: Tenant, key: TemplateKey, version?: number | null): Promise<TemplateView> {
    const template = await this.store.find(environmentId, key);
    if (template === null) throw noSuch('template');
    const content = await this.store.version(environmentId, template.id, version ?? template.version);
    if (content === null) throw noSuch('version of this template');
    return { template, content };
  }

  /** Lists the versions of a template, newest first. Throws 404 if the template does not exist. */
  async versions(
    tenant: Tenant,
    key: TemplateKey,
    { cursor, limit = LIMIT_DEFAULT }: PageQuery,
  ): Promise<{ template: TemplateEntity; page: Page<ListedVersion> }> {
    const template = await this.store.find(tenant.environmentId, key);
    if (template === null) throw noSuch('template');
    const list: CursorQuery = { list: `versions of template ${template.id}`, filters: {} };
    const before = cursor === undefined ? undefined : Number(this.cursors.read(tenant, list, cursor));
    const rows = await this.store.versions(tenant.environmentId, template.id, before, limit + 1);
    return { template, page: this.cursors.page(tenant, list, rows, limit, (row) => String(row.version)) };
  }

  /**
   * Returns a rendered version without sending it. Throws 404 for an unknown template or version, and 422 for variables
   * that an email cannot have.
   */
  async render(
    tenant: Tenant,
    key: TemplateKey,
    given: Readonly<Record<string, unknown>>,
    version?: number | null,
  ): Promise<TemplateView & { rendered: RenderedContent }> {
    const view = await this.find(tenant, key, version);
    const parts = parseContent(view.content);
    const rendered = 'faults' in parts ? parts : renderContent(parts, view.content.variables, given, 'variables');
    if ('faults' in rendered) throw invalid(rendered.faults);
    return { ...view, rendered };
  }
}
