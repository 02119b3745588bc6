import { Injectable } from '@nestjs/common';
import { Clock } from '#kernel/clock.js';
import { Cache } from '#kernel/concurrency/cache.js';
import { Notifications } from '#kernel/database/notifications.js';
import { noSuch } from '#kernel/errors.js';
import { Environments } from '#modules/auth/environments/environments.js';
import { catalogPage, type CatalogView } from './catalog-page.js';
import { EventTypesStore } from './event-types.store.js';

const SLUG = /^[a-z0-9-]{1,40}$/;
const DETAILS_BYTES_MAX = 1024 * 1024;
const PAGES_MAX = 20;

/** Renders public catalog pages. Concurrent requests for a page share one rendering. */
@Injectable()
export class Catalog {
  private readonly pages: Cache<string>;

  constructor(
    private readonly environments: Environments,
    private readonly store: EventTypesStore,
    notifications: Notifications,
    clock: Clock,
  ) {
    this.pages = new Cache((key) => this.render(key), { entriesMax: PAGES_MAX, nowMs: () => clock.nowMs() });
    notifications.on('event_type', () => this.pages.clear());
    notifications.on('environment', () => this.pages.clear());
  }

  /**
   * Returns a catalog page. Throws the same 404 for an unknown organization and for a catalog that is not public.
   */
  async page(slug: string, mode: CatalogView['mode']): Promise<string> {
    if (!SLUG.test(slug)) throw noSuch('catalog');
    return this.pages.get(`${mode}:${slug}`);
  }

  private async render(key: string): Promise<string> {
    const colon = key.indexOf(':');
    const mode = key.slice(0, colon) as CatalogView['mode'];
    const owner = await this.environments.catalogOwner(key.slice(colon + 1), mode);
    if (owner === null) throw noSuch('catalog');
    const types = await this.store.catalog(owner.environmentId, DETAILS_BYTES_MAX);
    return catalogPage({ organization: owner.organizationName, mode, types });
  }
}
