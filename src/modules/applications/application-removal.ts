import { Injectable } from '@nestjs/common';
import { Database } from '#kernel/database/database.js';
import { noSuch } from '#kernel/errors.js';
import type { Id } from '#kernel/ids.js';
import type { Tenant } from '#kernel/tenant.js';
import { OwnedDestinations } from '#modules/destinations/owned-destinations.js';
import { ApplicationEndpointsStore } from './application-endpoints.store.js';
import { ApplicationReference } from './application-reference.js';
import { ApplicationsStore } from './applications.store.js';
import { WaitingDeliveries } from './waiting-deliveries.js';

@Injectable()
export class ApplicationRemoval {
  constructor(
    private readonly store: ApplicationsStore,
    private readonly endpoints: ApplicationEndpointsStore,
    private readonly destinations: OwnedDestinations,
    private readonly waiting: WaitingDeliveries,
    private readonly reference: ApplicationReference,
    private readonly database: Database,
  ) {}

  /**
   * Removes an application with its endpoints and their own destinations. Pending deliveries become failed. Throws 404
   * if the application does not exist or was already removed.
   */
  async remove({ environmentId }: Tenant, application: string): Promise<void> {
    const id = await this.reference.resolve(environmentId, application);
    if (!(await this.removeHeld(environmentId, id))) throw noSuch('application');
  }

  /** Removes an application, its endpoints and their own destinations. Pending deliveries fail. Idempotent. */
  async removeWhole(environmentId: number, applicationId: Id): Promise<void> {
    await this.removeHeld(environmentId, applicationId);
  }

  /** Removes an application under a lock. Returns false if there is no such application. */
  private async removeHeld(environmentId: number, id: Id): Promise<boolean> {
    const registered = await this.database.transaction(async () => {
      if ((await this.store.hold(environmentId, id, 'alone')) === null) return null;
      const rows = await this.endpoints.registered(environmentId, id);
      await this.destinations.removeAllOf(environmentId, id);
      await this.store.remove(environmentId, id);
      return rows;
    });
    if (registered !== null) await this.waiting.end(registered);
    return registered !== null;
  }
}
