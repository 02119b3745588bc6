import { Injectable } from '@nestjs/common';
import { subscription } from '#engine/subscription.js';
import { type CursorQuery, Cursors } from '#kernel/cursors.js';
import { noSuch } from '#kernel/errors.js';
import type { Id } from '#kernel/ids.js';
import type { Tenant } from '#kernel/tenant.js';
import { type OwnedDestination } from '#modules/destinations/contract.js';
import { OwnedDestinations } from '#modules/destinations/owned-destinations.js';
import { Targets } from '#modules/destinations/targets.js';
import { FAN_OUT_MAX } from '#modules/ledger/accept.contract.js';
import { ApplicationEndpointsStore } from './application-endpoints.store.js';
import { ApplicationReference } from './application-reference.js';
import type { ApplicationEndpointEntity } from './applications.entities.js';

export interface ApplicationEndpointQuery {
  status?: 'active' | 'disabled';
  event_type?: string;
  cursor?: string;
  limit?: number;
}

export interface ApplicationEndpointView {
  row: ApplicationEndpointEntity;
  /** The destination that the endpoint owns; null if the endpoint uses a destination of the environment (`dst_…`). */
  owned: OwnedDestination | null;
  /** Status of the destination (`dst_…`) that the endpoint uses; null for an endpoint with a URL. */
  destinationStatus: 'active' | 'disabled' | 'gone' | null;
}

const LIMIT_DEFAULT = 50;

/**
 * Returns whether an endpoint has its own URL. If not, it uses a destination of the environment. An endpoint's own URL
 * is stored as a destination with the endpoint's id.
 */
export const hasUrl = ({ id, destinationId }: { id: Id; destinationId: Id }): boolean => destinationId === id;

/**
 * Returns the status of an endpoint, and the reason for it. If the endpoint has its own URL, both are stored with the
 * destination of that URL.
 */
export function statusOf({
  row,
  owned,
}: ApplicationEndpointView): Pick<ApplicationEndpointEntity, 'status' | 'disabledReason'> {
  const { status, disabledReason } = owned ?? row;
  return { status, disabledReason };
}

/** Reads endpoints of applications in the caller's environment, newest first. */
@Injectable()
export class ApplicationEndpointsService {
  constructor(
    private readonly store: ApplicationEndpointsStore,
    private readonly reference: ApplicationReference,
    private readonly destinations: OwnedDestinations,
    private readonly targets: Targets,
    private readonly cursors: Cursors,
  ) {}

  /** Returns a page of endpoints. Throws 404 if the application does not exist. */
  async list(
    tenant: Tenant,
    application: string,
    query: ApplicationEndpointQuery,
  ): Promise<{ views: ApplicationEndpointView[]; nextCursor: string | null }> {
    const { cursor, limit = LIMIT_DEFAULT, ...filters } = query;
    const applicationId = await this.reference.resolve(tenant.environmentId, application);
    const list: CursorQuery = { list: `endpoints of ${applicationId}`, filters };
    const beforeId = cursor === undefined ? undefined : this.cursors.read(tenant, list, cursor);
    // The filtered columns are not indexed. All endpoints of the application are read: at most 1,000.
    const isFiltered = Object.values(filters).some((filter) => filter !== undefined);
    const rows = await this.store.page(
      tenant.environmentId,
      applicationId,
      beforeId,
      isFiltered ? FAN_OUT_MAX : limit + 1,
    );
    const { event_type: eventType, status } = filters;
    const hearing = rows.filter(
      (row) => eventType === undefined || subscription(row.eventTypes, []).matchesType(eventType),
    );
    const found = (await this.views(tenant.environmentId, hearing)).filter(
      (view) => status === undefined || statusOf(view).status === status,
    );
    const views = found.slice(0, limit);
    // Endpoints deleted in the meantime are left out, so a page may be short even though the list continues.
    const isMore = found.length > limit || (!isFiltered && rows.length > limit);
    const last = views.at(-1) ?? null;
    return { views, nextCursor: isMore && last !== null ? this.cursors.issue(tenant, list, last.row.id) : null };
  }

  /** Returns the endpoints with these ids, in the order of `ids`. Omits missing endpoints. */
  async these(environmentId: number, ids: readonly Id[]): Promise<ApplicationEndpointView[]> {
    const rows = new Map((await this.store.these(environmentId, ids)).map((row) => [row.id, row]));
    return this.views(
      environmentId,
      ids.flatMap((id) => rows.get(id) ?? []),
    );
  }

  /** Returns an endpoint with its details. Throws 404 if it does not exist. */
  async find(environmentId: number, id: Id): Promise<ApplicationEndpointView> {
    const row = await this.store.find(environmentId, id);
    if (row === null) throw noSuch('endpoint');
    return this.view(row);
  }

  /** Returns a row with its details. Throws 404 if the endpoint and its destination were deleted in the meantime. */
  async view(row: ApplicationEndpointEntity): Promise<ApplicationEndpointView> {
    const [view] = await this.views(row.environmentId, [row]);
    if (view === undefined) throw noSuch('endpoint');
    return view;
  }

  /** Returns endpoints with their details in the order of the rows, without those that are being deleted. */
  private async views(
    environmentId: number,
    rows: readonly ApplicationEndpointEntity[],
  ): Promise<ApplicationEndpointView[]> {
    const own = rows.filter(hasUrl);
    const registered = rows.filter((row) => !hasUrl(row));
    const owned = new Map(
      (
        await this.destinations.find(
          environmentId,
          own.map(({ id }) => id),
        )
      ).map((each) => [each.id, each]),
    );
    const targets = await this.targets.ofDestinations(
      environmentId,
      registered.map(({ destinationId }) => destinationId),
    );
    const statuses = new Map(registered.map((row, i) => [row.id, targets[i]?.status ?? ('gone' as const)]));
    return rows.flatMap((row) => {
      const destination = owned.get(row.id) ?? null;
      if (hasUrl(row) && destination === null) return [];
      return [{ row, owned: destination, destinationStatus: statuses.get(row.id) ?? null }];
    });
  }
}
