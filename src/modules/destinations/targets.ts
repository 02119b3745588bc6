import { Injectable } from '@nestjs/common';
import { type DestinationAdapter, type Target, Targets } from '#modules/destinations/contract.js';
import type { Id } from '#kernel/ids.js';
import { AdHocTargets } from './ad-hoc-targets.js';
import { AdapterRegistry } from './adapter-registry.js';
import { DestinationTargets } from './destination-targets.js';
import { DestinationsStore } from './destinations.store.js';

/** Where deliveries go: stored destinations and ad-hoc URLs, and the adapters that serve them. */
@Injectable()
export class CachedTargets extends Targets {
  constructor(
    private readonly destinations: DestinationTargets,
    private readonly adHoc: AdHocTargets,
    private readonly adapters: AdapterRegistry,
    private readonly store: DestinationsStore,
  ) {
    super();
  }

  override ofDestination(environmentId: number, destinationId: Id): Promise<Target | null> {
    return this.destinations.of(environmentId, destinationId);
  }

  override async ofListed(environmentId: number, destinationId: Id): Promise<Target | null> {
    const target = await this.destinations.of(environmentId, destinationId);
    return target?.ownerId === null ? target : null;
  }

  override ofDestinations(environmentId: number, ids: readonly Id[]): Promise<(Target | null)[]> {
    return this.destinations.ofAll(environmentId, ids);
  }

  override ofUrl(environmentId: number, url: string): Promise<Target> {
    return this.adHoc.of(environmentId, url);
  }

  override adapter(type: string): DestinationAdapter {
    return this.adapters.serving(type);
  }

  override pulledTypes(): string[] {
    return this.adapters.pulledTypes();
  }

  override disable(environmentId: number, destinationId: Id, reason: string): Promise<void> {
    return this.store.disable(environmentId, destinationId, reason);
  }
}
