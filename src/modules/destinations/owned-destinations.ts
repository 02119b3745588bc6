import { Injectable } from '@nestjs/common';
import { type Circuit, CLOSED } from '#engine/circuit.js';
import type { Id } from '#kernel/ids.js';
import type { Tenant } from '#kernel/tenant.js';
import {
  type NewOwnedDestination,
  type OwnedDestination,
  type OwnedDestinationChanges,
  type ShownSecret,
} from '#modules/destinations/contract.js';
import { Changes, type DestinationChanges } from './changes.js';
import { CircuitsStore } from './circuits.store.js';
import { deliveryChanges, shownSettings } from './delivery-settings.js';
import { DestinationSecrets } from './destination-secrets.js';
import type { DestinationEntity } from './destinations.entities.js';
import { DestinationsStore } from './destinations.store.js';
import { Registration } from './registration.js';
import { RetryPolicies } from './retry-policies.js';

/** Destinations of applications' endpoints: ordinary rows that are visible only to their owner. */
@Injectable()
export class OwnedDestinations {
  constructor(
    private readonly store: DestinationsStore,
    private readonly registration: Registration,
    private readonly changes: Changes,
    private readonly secrets: DestinationSecrets,
    private readonly circuits: CircuitsStore,
    private readonly policies: RetryPolicies,
  ) {}

  /** Creates and returns a destination for an owner. Throws 422 with the errors in the URL or the settings. */
  async create(tenant: Tenant, owner: { id: Id }, destination: NewOwnedDestination): Promise<OwnedDestination> {
    const { id, name, url, settings, secret = null } = destination;
    const asked = { name, type: 'https', settings: { ...deliveryChanges(settings), url }, credentials: null, secret };
    return this.owned(await this.registration.create(tenant, asked, { id, ownerId: owner.id }), CLOSED);
  }

  /** Changes and returns a destination. Throws 404 if it does not exist, and 422 like `create`. */
  update(tenant: Tenant, id: Id, { name, url, settings = {} }: OwnedDestinationChanges): Promise<OwnedDestination> {
    return this.change(tenant, id, { settings: { ...deliveryChanges(settings), name, url } });
  }

  /**
   * Sets the status. Enabling also closes the circuit. Disabling twice keeps the first reason. Throws 404 if the
   * destination does not exist.
   */
  setStatus(tenant: Tenant, id: Id, status: 'active' | 'disabled', reason?: string): Promise<OwnedDestination> {
    return this.change(tenant, id, { settings: {}, status, reason });
  }

  /** Deletes a destination. Its waiting deliveries fail as `target_gone`. Throws 404 if it does not exist. */
  remove(environmentId: number, id: Id): Promise<void> {
    return this.changes.remove(environmentId, id, 'owned');
  }

  removeAllOf(environmentId: number, ownerId: Id): Promise<Id[]> {
    return this.changes.removeAllOf(environmentId, ownerId);
  }

  /**
   * Returns destinations in the order of `ids`. Omits destinations that do not exist. Uses two statements for any
   * number of ids.
   */
  async find(environmentId: number, ids: readonly Id[]): Promise<OwnedDestination[]> {
    if (ids.length === 0) return [];
    const rows = new Map((await this.store.findAll(environmentId, ids)).map((row) => [row.id, row]));
    const circuits = await this.circuits.findAll(environmentId, ids);
    return ids.flatMap((id) => {
      const row = rows.get(id);
      return row && row.ownerId !== null ? [this.owned(row, circuits.get(id) ?? CLOSED)] : [];
    });
  }

  /** Returns the signing secret of a destination. Throws 404 if the destination does not exist. */
  showSecret(tenant: Tenant, id: Id): Promise<ShownSecret> {
    return this.secrets.show(tenant, id, 'owned');
  }

  /**
   * Generates and returns a new signing secret. The previous secret also signs for another `graceMs`. Throws 404 if the
   * destination does not exist.
   */
  rotateSecret(tenant: Tenant, id: Id, graceMs: number): Promise<ShownSecret> {
    return this.secrets.rotate(tenant, id, graceMs, 'owned');
  }

  private async change(tenant: Tenant, id: Id, changes: DestinationChanges): Promise<OwnedDestination> {
    const row = await this.changes.update(tenant, id, changes, 'owned');
    return this.owned(row, await this.circuits.find(tenant.environmentId, id));
  }

  private owned(row: DestinationEntity, { state, openedAt }: Circuit): OwnedDestination {
    const { id, ownerId, name, url, status, disabledReason, version, createdAt, updatedAt } = row;
    return {
      id,
      ownerId: ownerId as Id,
      name,
      url,
      status,
      disabledReason,
      settings: shownSettings(row, this.policies),
      circuit: { state, openedAt },
      version,
      createdAt,
      updatedAt,
    };
  }
}
