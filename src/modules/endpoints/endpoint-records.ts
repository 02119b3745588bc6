import { Injectable } from '@nestjs/common';
import { conflict } from '#kernel/errors.js';
import { type Id, Ids, idTimeMs } from '#kernel/ids.js';
import { CodeSecrets } from './code-secrets.js';
import type { Settings } from './endpoint-settings.js';
import { EndpointVault } from './endpoint-vault.js';
import type { EndpointEntity, RouteEntity } from './endpoints.entities.js';
import { EndpointsStore } from './endpoints.store.js';
import { IngestDomains } from './ingest-domains.js';
import type { RouteDraft } from './route-drafts.js';

export interface StoredEndpoint {
  row: EndpointEntity;
  settings: Settings;
  routes: RouteEntity[];
}

export interface EndpointDraft {
  settings: Settings;
  path: string;
  /** Custom domain of the endpoint. `null` on the platform's host. */
  domainId: Id | null;
  status: EndpointEntity['status'];
  routes: readonly RouteEntity[];
}

const ENDPOINTS_MAX = 10_000;

/** Reads and writes endpoints with their routes, their encrypted settings and the secrets that their code uses. */
@Injectable()
export class EndpointRecords {
  constructor(
    private readonly store: EndpointsStore,
    private readonly vault: EndpointVault,
    private readonly secrets: CodeSecrets,
    private readonly domains: IngestDomains,
    private readonly ids: Ids,
  ) {}

  async find(environmentId: number, id: Id): Promise<StoredEndpoint | null> {
    return this.opened(await this.store.find(environmentId, id));
  }

  /** Returns an endpoint, and locks its row until the transaction ends. */
  async findForUpdate(environmentId: number, id: Id): Promise<StoredEndpoint | null> {
    return this.opened(await this.store.findForUpdate(environmentId, id));
  }

  /**
   * Creates an endpoint in the caller's transaction. Throws 422 for an unknown secret. Throws 409 if the URL is in use,
   * or if there are too many endpoints.
   */
  async create(
    place: Pick<EndpointEntity, 'environmentId' | 'id'>,
    { settings, path, domainId, status, routes }: EndpointDraft,
  ): Promise<EndpointEntity> {
    const { response, ...columns } = settings;
    const now = new Date(idTimeMs(place.id));
    const sealed = { secrets: null, response: this.vault.sealResponse(place, response) };
    const row: EndpointEntity = {
      ...place,
      ...columns,
      ...sealed,
      domainId,
      path,
      status,
      version: 1,
      createdAt: now,
      updatedAt: now,
    };
    await this.makeRoom(row.environmentId);
    await this.secrets.use(row.environmentId, row.id, row.transform);
    const url = await this.urlOf(row);
    if (!(await this.store.insert(row))) throw this.taken(url);
    await this.store.replaceRoutes(row.environmentId, row.id, routes);
    return row;
  }

  /**
   * Changes an endpoint. Must run in the transaction of `findForUpdate`. Throws 422 for an unknown secret, and 409 if
   * the URL is in use.
   */
  async update(
    before: StoredEndpoint,
    { settings, path, domainId, status, routes }: EndpointDraft,
  ): Promise<EndpointEntity> {
    const { row } = before;
    const { response, ...columns } = settings;
    if (settings.transform !== before.settings.transform)
      await this.secrets.use(row.environmentId, row.id, settings.transform);
    if (routes !== before.routes) await this.store.replaceRoutes(row.environmentId, row.id, routes);
    const sealed = response === before.settings.response ? row.response : this.vault.sealResponse(row, response);
    const url = await this.urlOf({ environmentId: row.environmentId, path, domainId });
    const updated = await this.store.update(row, {
      ...columns,
      response: sealed,
      path,
      domainId,
      status,
      version: row.version + 1,
    });
    if (updated === null) throw this.taken(url);
    return updated;
  }

  /** Removes an endpoint in the caller's transaction. Returns false if it does not exist. */
  async remove(environmentId: number, id: Id): Promise<boolean> {
    // Locks the endpoint before its secrets. Changes use the same order, so that concurrent calls do not deadlock.
    const isRemoved = await this.store.remove(environmentId, id);
    await this.secrets.release(environmentId, id);
    return isRemoved;
  }

  routesOf(place: Pick<EndpointEntity, 'environmentId' | 'id'>, drafts: readonly RouteDraft[]): RouteEntity[] {
    return drafts.map(({ id, destinationId, filter }, position) => ({
      environmentId: place.environmentId,
      endpointId: place.id,
      id: id ?? this.ids.next(),
      destinationId,
      filter,
      position,
    }));
  }

  private async opened(row: EndpointEntity | null): Promise<StoredEndpoint | null> {
    if (row === null) return null;
    const {
      name,
      preset,
      verification,
      verificationConfig,
      responseRules,
      responseProxy,
      transform,
      allowedMethods,
      deduplicate,
      maxBodyBytes,
    } = row;
    const response = this.vault.openResponse(row);
    return {
      row,
      settings: {
        name,
        preset,
        verification,
        verificationConfig,
        responseRules,
        responseProxy,
        transform,
        allowedMethods,
        deduplicate,
        maxBodyBytes,
        response,
      },
      routes: await this.store.routes(row.environmentId, [row.id]),
    };
  }

  /** Returns an endpoint's URL. Must be called before the write, because a failed write aborts the transaction. */
  private async urlOf({
    environmentId,
    path,
    domainId,
  }: Pick<EndpointEntity, 'environmentId' | 'path' | 'domainId'>): Promise<string> {
    const domain =
      domainId === null ? undefined : (await this.domains.findMany(environmentId, [domainId])).get(domainId);
    return this.domains.urlOf(domain ?? this.domains.platform(), path);
  }

  private async makeRoom(environmentId: number): Promise<void> {
    await this.store.lock(environmentId);
    if ((await this.store.count(environmentId)) < ENDPOINTS_MAX) return;
    throw conflict(`An environment has at most ${ENDPOINTS_MAX} endpoints. Delete one first.`, {
      limit: ENDPOINTS_MAX,
    });
  }

  /** Returns the error for a URL that another endpoint has. Does not reveal the owner of that endpoint. */
  private taken(url: string): Error {
    const message = 'The URL is owned by another live endpoint. Choose another one, or delete that endpoint first.';
    return conflict(message, { url });
  }
}
