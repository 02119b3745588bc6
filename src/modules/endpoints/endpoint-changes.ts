import { isDeepStrictEqual } from 'node:util';
import { Injectable } from '@nestjs/common';
import { Database } from '#kernel/database/database.js';
import { invalid, noSuch } from '#kernel/errors.js';
import type { Id } from '#kernel/ids.js';
import type { Tenant } from '#kernel/tenant.js';
import { type EndpointDraft, EndpointRecords, type StoredEndpoint } from './endpoint-records.js';
import { changed, type SettingsChanges } from './endpoint-settings.js';
import type { RoutedEndpoint } from './endpoints.service.js';
import { type ChosenDomain, IngestDomains } from './ingest-domains.js';
import { OutsideChecks } from './outside-checks.js';
import { Presets } from './presets.js';
import { resolveAddress } from './receive-url.js';
import { type AskedRoutes, draftRoutes, type RouteDraft } from './route-drafts.js';

/** Requested changes to an endpoint. Omitted fields keep their value. */
export interface EndpointChangesAsked {
  url?: string;
  settings: SettingsChanges;
  routes: AskedRoutes;
  status?: 'active' | 'paused';
}

/** The endpoint after the change. If `drafts` is `null`, the routes are not changed. */
type Next = Omit<EndpointDraft, 'routes'> & { drafts: RouteDraft[] | null };

@Injectable()
export class EndpointChanges {
  constructor(
    private readonly records: EndpointRecords,
    private readonly domains: IngestDomains,
    private readonly checks: OutsideChecks,
    private readonly database: Database,
    private readonly presets: Presets,
  ) {}

  /**
   * Changes an endpoint. Throws 404 if it does not exist, 422 with all errors, and 409 if another endpoint has the new
   * URL.
   */
  async update(tenant: Tenant, id: Id, asked: EndpointChangesAsked): Promise<RoutedEndpoint> {
    const found = await this.records.find(tenant.environmentId, id);
    if (found === null) throw noSuch('endpoint');
    const chosen = await this.domains.choose(tenant, { url: asked.url });
    const { drafts } = this.next(found, asked, chosen);
    await this.checks.pass(tenant.environmentId, { settings: asked.settings, drafts });
    return this.database.transaction(() => this.apply(tenant, id, asked, chosen));
  }

  /**
   * Deletes an endpoint, so that its URL can be reused. Its events stay until their retention period ends. Throws 404
   * if the endpoint does not exist.
   */
  async remove(tenant: Tenant, id: Id): Promise<void> {
    await this.database.transaction(async () => {
      if (!(await this.records.remove(tenant.environmentId, id))) throw noSuch('endpoint');
    });
  }

  /** Applies the changes under the row lock, so that concurrent calls do not overwrite each other's settings. */
  private async apply(
    { environmentId }: Tenant,
    id: Id,
    asked: EndpointChangesAsked,
    chosen: ChosenDomain,
  ): Promise<RoutedEndpoint> {
    const before = await this.records.findForUpdate(environmentId, id);
    if (before === null) throw noSuch('endpoint');
    const { drafts, ...rest } = this.next(before, asked, chosen);
    const after: EndpointDraft = {
      ...rest,
      routes: drafts === null ? before.routes : this.records.routesOf(before.row, drafts),
    };
    const { row, settings, routes } = before;
    const isSame = isDeepStrictEqual(after, {
      settings,
      path: row.path,
      domainId: row.domainId,
      status: row.status,
      routes,
    });
    return { row: isSame ? row : await this.records.update(before, after), routes: after.routes };
  }

  /** Returns the endpoint after the change. Throws 422 with all errors that can be found without external data. */
  private next(
    { row, settings: before, routes }: StoredEndpoint,
    asked: EndpointChangesAsked,
    chosen: ChosenDomain,
  ): Next {
    const domainId = asked.url === undefined ? row.domainId : chosen.domainId;
    const resolved =
      asked.url === undefined ? row : resolveAddress({ url: asked.url }, { ...chosen.base, currentPath: row.path });
    const address =
      'faults' in resolved ? { path: '', faults: resolved.faults } : { path: resolved.path, faults: chosen.faults };
    const { settings, faults: settingsFaults } = changed(before, asked.settings, (id) => this.presets.find(id));
    const { drafts, faults: routeFaults } = draftRoutes(routes, asked.routes);
    const faults = [...address.faults, ...settingsFaults, ...routeFaults];
    if (faults.length > 0) throw invalid(faults);
    return { settings, path: address.path, domainId, status: asked.status ?? row.status, drafts };
  }
}
