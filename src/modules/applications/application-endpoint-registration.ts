import { Injectable } from '@nestjs/common';
import { Database } from '#kernel/database/database.js';
import { conflict, type Fault, invalid, noSuch } from '#kernel/errors.js';
import { type Id, Ids, idTimeMs, parseId, showId } from '#kernel/ids.js';
import type { Tenant } from '#kernel/tenant.js';
import { type DeliverySettings, type ShownSecret } from '#modules/destinations/contract.js';
import { OwnedDestinations } from '#modules/destinations/owned-destinations.js';
import { Targets } from '#modules/destinations/targets.js';
import { FAN_OUT_MAX } from '#modules/ledger/accept.contract.js';
import { ApplicationEndpointsStore } from './application-endpoints.store.js';
import { ApplicationReference } from './application-reference.js';
import type { ApplicationEndpointEntity } from './applications.entities.js';
import {
  deliverySettingsOf,
  type EndpointFields,
  fieldColumns,
  fieldFaults,
  foreignSettingsFaults,
} from './endpoint-draft.js';

/** Request to create an endpoint, with a URL or the id of an existing destination (`dst_…`). */
export interface NewApplicationEndpoint extends EndpointFields, DeliverySettings {
  url?: string | null;
  destination?: string | null;
  /** `whsec_…` secret that the receiver already knows. */
  secret?: string | null;
}

/**
 * A new endpoint with its secret. The secret is null if the endpoint uses an existing destination (`dst_…`) instead of
 * a URL.
 */
export interface RegisteredEndpoint {
  row: ApplicationEndpointEntity;
  secret: ShownSecret | null;
}

/** Target of an endpoint. `destinationId` is null if the endpoint gets its own URL. */
type Place = { destinationId: Id | null; url: string | null };

/** Destinations (`dst_…`) that endpoints can use instead of a URL of their own. */
@Injectable()
export class EndpointPlaces {
  constructor(private readonly targets: Targets) {}

  /** Returns the id of a destination (`dst_…`) of the environment. Throws 422 if the destination does not exist. */
  async registered(environmentId: number, destination: string): Promise<Id> {
    const id = parseId('dst', destination);
    if (id === null || (await this.targets.ofListed(environmentId, id)) === null) {
      throw invalid([{ path: 'destination', message: 'There is no such destination.' }]);
    }
    return id;
  }
}

@Injectable()
export class ApplicationEndpointRegistration {
  constructor(
    private readonly store: ApplicationEndpointsStore,
    private readonly places: EndpointPlaces,
    private readonly destinations: OwnedDestinations,
    private readonly reference: ApplicationReference,
    private readonly database: Database,
    private readonly ids: Ids,
  ) {}

  /**
   * Creates an endpoint. Throws 404 for an unknown application, 422 for invalid fields, and 409 for a taken uid or too
   * many endpoints.
   */
  async create(
    tenant: Tenant,
    application: string,
    asked: NewApplicationEndpoint,
    placesMax = FAN_OUT_MAX,
  ): Promise<RegisteredEndpoint> {
    const { environmentId } = tenant;
    const applicationId = await this.reference.resolve(environmentId, application);
    const faults = [...fieldFaults(asked), ...placeFaults(asked)];
    if (faults.length > 0) throw invalid(faults);
    const place = await this.placeOf(environmentId, asked);
    const row = this.row({ environmentId, applicationId }, place, asked);
    return this.database.transaction(async () => {
      await this.makeRoom(environmentId, applicationId, placesMax);
      return this.register(tenant, row, { ...asked, url: place.url });
    });
  }

  private async register(
    tenant: Tenant,
    row: ApplicationEndpointEntity,
    { url, secret, ...asked }: NewApplicationEndpoint,
  ): Promise<RegisteredEndpoint> {
    const { id, applicationId } = row;
    if (!(await this.store.insert(row))) throw takenUid();
    if (url == null) return { row, secret: null };
    await this.destinations.create(
      tenant,
      { id: applicationId },
      { id, name: showId('ep', id), url, settings: deliverySettingsOf(asked), secret },
    );
    return { row, secret: await this.destinations.showSecret(tenant, id) };
  }

  private row(
    { environmentId, applicationId }: { environmentId: number; applicationId: Id },
    { destinationId }: Place,
    fields: EndpointFields,
  ): ApplicationEndpointEntity {
    const id = this.ids.next();
    const at = new Date(idTimeMs(id));
    return {
      environmentId,
      id,
      applicationId,
      destinationId: destinationId ?? id,
      uid: null,
      description: '',
      eventTypes: [],
      channels: [],
      filter: null,
      metadata: {},
      status: 'active',
      disabledReason: null,
      ...fieldColumns(fields),
      createdAt: at,
      updatedAt: at,
    };
  }

  private async placeOf(environmentId: number, { url, destination }: NewApplicationEndpoint): Promise<Place> {
    if (destination == null) return { destinationId: null, url: url ?? null };
    return { destinationId: await this.places.registered(environmentId, destination), url: null };
  }

  /**
   * Locks the application until the transaction ends, so that concurrent calls cannot exceed the maximum number of
   * endpoints.
   */
  private async makeRoom(environmentId: number, applicationId: Id, placesMax: number): Promise<void> {
    if ((await this.store.holdApplication(environmentId, applicationId, 'alone')) === null) throw noSuch('application');
    if ((await this.store.count(environmentId, applicationId)) < placesMax) return;
    throw conflict(`An application has at most ${placesMax} endpoints. Delete one first.`, { limit: placesMax });
  }
}

export const takenUid = (): Error =>
  conflict('Another endpoint of the application has this uid. Choose another one.', { field: 'uid' });

function placeFaults({ url, destination, secret, ...asked }: NewApplicationEndpoint): Fault[] {
  if (url == null && destination == null)
    return [{ path: 'url', message: 'is required, unless a destination is given' }];
  if (destination == null) return [];
  return [
    ...(url == null ? [] : [{ path: 'destination', message: 'Give a url or a destination, not both.' }]),
    ...(secret == null ? [] : foreignSettingsFaults({ secret } as DeliverySettings)),
    ...foreignSettingsFaults(deliverySettingsOf(asked)),
  ];
}
