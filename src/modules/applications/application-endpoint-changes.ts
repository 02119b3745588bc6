import { Injectable } from '@nestjs/common';
import { Database } from '#kernel/database/database.js';
import { conflict, type Fault, invalid, noSuch } from '#kernel/errors.js';
import { type Id, showId } from '#kernel/ids.js';
import type { Tenant } from '#kernel/tenant.js';
import { type DeliverySettings, type ShownSecret } from '#modules/destinations/contract.js';
import { OwnedDestinations } from '#modules/destinations/owned-destinations.js';
import { EndpointPlaces, takenUid } from './application-endpoint-registration.js';
import { hasUrl } from './application-endpoints.service.js';
import { ApplicationEndpointsStore, type EndpointColumns } from './application-endpoints.store.js';
import type { ApplicationEndpointEntity } from './applications.entities.js';
import type { ApplicationEndpoint } from './contract.js';
import {
  deliverySettingsOf,
  type EndpointFields,
  fieldColumns,
  fieldFaults,
  foreignSettingsFaults,
} from './endpoint-draft.js';
import { WaitingDeliveries } from './waiting-deliveries.js';

export interface ApplicationEndpointChangesAsked extends EndpointFields, DeliverySettings {
  url?: string | null;
  destination?: string | null;
  status?: 'active' | 'disabled';
  disabled_reason?: string | null;
}

const DISABLED_BY_CALLER = 'Disabled through the API.';

@Injectable()
export class ApplicationEndpointChanges {
  constructor(
    private readonly store: ApplicationEndpointsStore,
    private readonly places: EndpointPlaces,
    private readonly destinations: OwnedDestinations,
    private readonly database: Database,
    private readonly waiting: WaitingDeliveries,
  ) {}

  /**
   * Updates an endpoint. Setting its status to active also closes the circuit breaker of its URL. Throws 404 if the
   * endpoint does not exist, 422 for invalid fields, and 409 for a taken uid. An error changes nothing.
   */
  async update(
    tenant: Tenant,
    endpoint: ApplicationEndpoint,
    asked: ApplicationEndpointChangesAsked,
  ): Promise<ApplicationEndpointEntity> {
    const faults = [...fieldFaults(asked), ...changeFaults(endpoint, asked)];
    if (faults.length > 0) throw invalid(faults);
    const changed = await this.database.transaction(async () => {
      const row = await this.held(tenant.environmentId, endpoint);
      const columns = hasUrl(row)
        ? await this.changeOwn(tenant, row.id, asked)
        : await this.changeRegistered(tenant, row, asked);
      const updated = await this.store.update(row, { ...fieldColumns(asked), ...columns });
      if (updated === null) throw takenUid();
      return updated;
    });
    // Runs even if the endpoint was already disabled, because an earlier request may have been interrupted before it
    // ended the deliveries.
    if (asked.status === 'disabled') await this.waiting.end([changed]);
    return changed;
  }

  /**
   * Removes an endpoint and its own destination. Its pending deliveries fail. Throws 404 if the endpoint does not exist
   * or was already removed.
   */
  async remove(environmentId: number, endpoint: ApplicationEndpoint): Promise<void> {
    const removed = await this.database.transaction(async () => {
      const row = await this.held(environmentId, endpoint);
      if (hasUrl(row)) await this.destinations.remove(environmentId, row.id);
      await this.store.remove(row);
      return row;
    });
    await this.waiting.end([removed]);
  }

  /**
   * Returns the secret that signs an endpoint's deliveries. Throws 409 if the endpoint uses a registered destination
   * (`dst_…`).
   */
  showSecret(tenant: Tenant, endpoint: ApplicationEndpoint): Promise<ShownSecret> {
    return this.destinations.showSecret(tenant, owned(endpoint));
  }

  /**
   * Replaces the secret. The old secret still signs for `graceMs`. Throws 409 if the endpoint uses a registered
   * destination (`dst_…`).
   */
  rotateSecret(tenant: Tenant, endpoint: ApplicationEndpoint, graceMs: number): Promise<ShownSecret> {
    return this.destinations.rotateSecret(tenant, owned(endpoint), graceMs);
  }

  private async held(
    environmentId: number,
    { applicationId, id }: ApplicationEndpoint,
  ): Promise<ApplicationEndpointEntity> {
    const application = await this.store.holdApplication(environmentId, applicationId, 'together');
    const row = application && (await this.store.findForUpdate(environmentId, id));
    if (row === null) throw noSuch('endpoint');
    return row;
  }

  private async changeOwn(tenant: Tenant, id: Id, asked: ApplicationEndpointChangesAsked): Promise<EndpointColumns> {
    const { url, status, disabled_reason: reason } = asked;
    const settings = deliverySettingsOf(asked);
    if (url != null || Object.keys(settings).length > 0)
      await this.destinations.update(tenant, id, { url: url ?? undefined, settings });
    if (status !== undefined) await this.destinations.setStatus(tenant, id, status, reason ?? undefined);
    return {};
  }

  private async changeRegistered(
    { environmentId }: Tenant,
    row: ApplicationEndpointEntity,
    { destination, status, disabled_reason: reason }: ApplicationEndpointChangesAsked,
  ): Promise<EndpointColumns> {
    const columns: EndpointColumns = {};
    if (destination != null) columns.destinationId = await this.places.registered(environmentId, destination);
    if (status === 'active') Object.assign(columns, { status, disabledReason: null });
    // If the endpoint is already disabled, keeps the reason for which it was first disabled.
    else if (status === 'disabled' && row.status === 'active')
      Object.assign(columns, { status, disabledReason: reason ?? DISABLED_BY_CALLER });
    return columns;
  }
}

/** Returns the faults of a change. A URL cannot be replaced by a destination, nor a destination by a URL. */
function changeFaults(
  endpoint: ApplicationEndpoint,
  { url, destination, status, disabled_reason: reason, ...asked }: ApplicationEndpointChangesAsked,
): Fault[] {
  const isOwn = hasUrl(endpoint);
  return [
    ...(isOwn && destination != null
      ? [{ path: 'destination', message: 'The endpoint has a url: create another endpoint for a destination.' }]
      : []),
    ...(!isOwn && url != null
      ? [{ path: 'url', message: 'The endpoint uses a destination: create another endpoint for a url.' }]
      : []),
    ...(isOwn ? [] : foreignSettingsFaults(deliverySettingsOf(asked))),
    ...(reason != null && status !== 'disabled'
      ? [{ path: 'disabled_reason', message: 'is the reason for disabling: also set status to disabled' }]
      : []),
  ];
}

function owned(endpoint: ApplicationEndpoint): Id {
  if (hasUrl(endpoint)) return endpoint.id;
  const destination = showId('dst', endpoint.destinationId);
  throw conflict(`The endpoint uses a destination, whose secret signs: see /v1/destinations/${destination}/secret.`, {
    destination,
  });
}
