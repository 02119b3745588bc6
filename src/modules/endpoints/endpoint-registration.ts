import { Injectable } from '@nestjs/common';
import { Database } from '#kernel/database/database.js';
import { invalid } from '#kernel/errors.js';
import { Ids } from '#kernel/ids.js';
import type { Tenant } from '#kernel/tenant.js';
import { EndpointRecords } from './endpoint-records.js';
import { changed, DEFAULT_SETTINGS, type SettingsChanges } from './endpoint-settings.js';
import type { RoutedEndpoint } from './endpoints.service.js';
import { IngestDomains } from './ingest-domains.js';
import { OutsideChecks } from './outside-checks.js';
import { Presets } from './presets.js';
import { type GivenAddress, resolveAddress } from './receive-url.js';
import { type AskedRoutes, draftRoutes } from './route-drafts.js';

export interface NewEndpoint {
  address: GivenAddress;
  /**
   * Domain id (`pdom_…` or `dom_…`). If null, the host in `url` selects the domain. Without `url`, it is the default
   * domain.
   */
  domainId: string | null;
  status: 'active' | 'paused';
  settings: SettingsChanges;
  routes: AskedRoutes;
}

@Injectable()
export class EndpointRegistration {
  constructor(
    private readonly records: EndpointRecords,
    private readonly domains: IngestDomains,
    private readonly checks: OutsideChecks,
    private readonly database: Database,
    private readonly ids: Ids,
    private readonly presets: Presets,
  ) {}

  /**
   * Creates an endpoint. Throws 422 with all errors, or 409 if another endpoint has the URL. Stores nothing on error.
   */
  async create(tenant: Tenant, asked: NewEndpoint): Promise<RoutedEndpoint> {
    const { environmentId } = tenant;
    const chosen = await this.domains.choose(tenant, { domainId: asked.domainId, url: asked.address.url });
    const resolved = resolveAddress(asked.address, chosen.base);
    const address =
      'faults' in resolved ? { path: '', name: '', faults: resolved.faults } : { ...resolved, faults: [] };
    const { settings, faults: settingsFaults } = changed(
      { ...DEFAULT_SETTINGS, name: address.name },
      asked.settings,
      (id) => this.presets.find(id),
    );
    const { drafts, faults: routeFaults } = draftRoutes([], asked.routes);
    const faults = [...address.faults, ...chosen.faults, ...settingsFaults, ...routeFaults];
    if (faults.length > 0) throw invalid(faults);
    await this.checks.pass(environmentId, { settings: asked.settings, drafts });
    const place = { environmentId, id: this.ids.next() };
    const routes = this.records.routesOf(place, drafts ?? []);
    const draft = { settings, path: address.path, domainId: chosen.domainId, status: asked.status, routes };
    return { row: await this.database.transaction(() => this.records.create(place, draft)), routes };
  }
}
