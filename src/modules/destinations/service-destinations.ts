import { Injectable } from '@nestjs/common';
import { Clock } from '#kernel/clock.js';
import { Database, isStorageAway, sqlState } from '#kernel/database/database.js';
import { unavailable } from '#kernel/errors.js';
import type { Id } from '#kernel/ids.js';
import { type ServiceDestination } from '#modules/destinations/contract.js';
import { DestinationSecrets } from './destination-secrets.js';
import { DestinationsStore } from './destinations.store.js';
import { DEFAULT_SETTINGS } from './settings.js';

const UNIQUE_VIOLATION = '23505';

/**
 * Creates Posthorn's own destinations. Their owner id is their own id, which hides them from lists and name searches.
 */
@Injectable()
export class ServiceDestinations {
  /** Cache of existing destinations. Entries never expire, because these destinations are never deleted. */
  private readonly known = new Set<string>();

  constructor(
    private readonly store: DestinationsStore,
    private readonly secrets: DestinationSecrets,
    private readonly database: Database,
    private readonly clock: Clock,
  ) {}

  /**
   * Creates a destination unless it exists. Does not read through the target cache. The cache would keep the result
   * that the destination is missing, and the next delivery would fail.
   */
  async ensure(environmentId: number, destination: ServiceDestination): Promise<void> {
    const key = `${environmentId}:${destination.id}`;
    if (this.known.has(key)) return;
    await this.create(environmentId, destination);
    this.known.add(key);
  }

  /** Stores a destination in a separate transaction, because the caller's transaction may fail or roll back. */
  private async create(environmentId: number, { id, name, type, timeoutMs }: ServiceDestination): Promise<void> {
    try {
      if ((await this.store.findAll(environmentId, [id])).length > 0) return;
      await this.database.unitOfWork(() => this.insert({ environmentId, id }, name, type, timeoutMs));
    } catch (error) {
      if (sqlState(error) === UNIQUE_VIOLATION) return;
      if (isStorageAway(error)) throw unavailable('Storage is not reachable. Nothing was accepted, try again.');
      throw error;
    }
  }

  private insert(
    place: { environmentId: number; id: Id },
    name: string,
    type: string,
    timeoutMs: number,
  ): Promise<void> {
    const now = this.clock.now();
    return this.store.insert({
      ...place,
      ...DEFAULT_SETTINGS,
      ...this.secrets.begin(place, null, DEFAULT_SETTINGS, {}),
      ownerId: place.id,
      name,
      type,
      timeoutMs,
      credentials: null,
      validation: 'valid',
      status: 'active',
      disabledReason: null,
      version: 1,
      createdAt: now,
      updatedAt: now,
    });
  }
}
