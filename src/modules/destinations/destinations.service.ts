import { Injectable } from '@nestjs/common';
import type { Circuit } from '#engine/circuit.js';
import { COUNTED_MAX, type CursorQuery, Cursors } from '#kernel/cursors.js';
import { badRequest, noSuch } from '#kernel/errors.js';
import type { Id } from '#kernel/ids.js';
import type { Tenant } from '#kernel/tenant.js';
import type { ShownDeliverySettings } from '#modules/destinations/contract.js';
import { AdapterRegistry } from './adapter-registry.js';
import { CircuitsStore } from './circuits.store.js';
import { shownSettings } from './delivery-settings.js';
import type { DestinationEntity, Validation } from './destinations.entities.js';
import { DestinationsStore } from './destinations.store.js';
import { RetryPolicies } from './retry-policies.js';

export interface DestinationQuery {
  type?: string;
  validation?: Validation;
  status?: 'active' | 'disabled';
  circuit?: Circuit['state'];
  search?: string;
  count?: boolean;
  cursor?: string;
  limit?: number;
}

export interface DestinationRows {
  rows: DestinationEntity[];
  nextCursor: string | null;
  /** Number of matching destinations, up to a limit. `null` if it was not requested. */
  count: number | null;
}

export interface DestinationView {
  row: DestinationEntity;
  settings: ShownDeliverySettings;
  circuit: Circuit;
  /** Reason why no adapter serves the type. `null` if an adapter does. */
  unserved: string | null;
}

const LIMIT_DEFAULT = 50;

@Injectable()
export class DestinationsService {
  constructor(
    private readonly store: DestinationsStore,
    private readonly circuits: CircuitsStore,
    private readonly adapters: AdapterRegistry,
    private readonly cursors: Cursors,
    private readonly retryPolicies: RetryPolicies,
  ) {}

  async list(tenant: Tenant, query: DestinationQuery): Promise<DestinationRows> {
    if (query.type !== undefined && !this.adapters.knows(query.type))
      throw badRequest(`type: "${query.type}" is no destination type.`);
    const { cursor, limit = LIMIT_DEFAULT, count = false, ...filters } = query;
    const list: CursorQuery = { list: 'destinations', filters };
    const beforeId = cursor === undefined ? undefined : this.cursors.read(tenant, list, cursor);
    const [rows, counted] = await Promise.all([
      this.store.page(tenant.environmentId, { ...filters, beforeId }, limit + 1),
      count ? this.store.count(tenant.environmentId, filters, COUNTED_MAX) : null,
    ]);
    return { ...this.cursors.page(tenant, list, rows, limit, ({ id }) => id), count: counted };
  }

  /** Returns a destination. Throws 404 if it does not exist. */
  async find(tenant: Tenant, id: Id): Promise<DestinationView> {
    const row = await this.store.find(tenant.environmentId, id, 'listed');
    if (row === null) throw noSuch('destination');
    return this.view(row);
  }

  async view(row: DestinationEntity): Promise<DestinationView> {
    return {
      row,
      settings: shownSettings(row, this.retryPolicies),
      circuit: await this.circuits.find(row.environmentId, row.id),
      unserved: this.adapters.absence(row.type),
    };
  }
}
