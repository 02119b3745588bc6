import { Injectable } from '@nestjs/common';
import { OwnedDestinations } from '#modules/destinations/contract.js';
import { Database } from '#kernel/database.js';
import { notFound } from '#kernel/errors.js';
import type { Tenant } from '#kernel/tenant.js';
import { ApplicationEndpointsStore } from './application-endpoints.store.js';
import { ApplicationReference } from './application-reference.js';
import { ApplicationsStore } from './applications.store.js';
import { WaitingDeliveries } from './waiting-deliveries.js';

/** What an application leaves behind. */
@Injectable()
export class ApplicationBelongings {
  constructor(
    readonly endpoints: ApplicationEndpointsStore,
    readonly destinations: OwnedDestinations,
    readonly waiting: WaitingDeliveries,
  ) {}
}

/** Deletes applications. */
@Injectable()
export class ApplicationRemoval {
  constructor(
    private readonly store: ApplicationsStore,
    private readonly belongings: ApplicationBelongings,
    private readonly reference: ApplicationReference,
    private readonly database: Database,
  ) {}

  /** With its endpoints and the destinations that they own; what waits for them becomes failed. Throws 404, also the second time. */
  async remove({ environmentId }: Tenant, application: string): Promise<void> {
    const { endpoints, destinations, waiting } = this.belongings;
    const id = await this.reference.resolve(environmentId, application);
    const registered = await this.database.transaction(async () => {
      if ((await this.store.hold(environmentId, id, 'alone')) === null) throw notFound('application');
      const rows = await endpoints.registered(environmentId, id);
      await destinations.removeAllOf(environmentId, id);
      await this.store.remove(environmentId, id);
      return rows;
    });
    await waiting.end(registered);
  }
}
