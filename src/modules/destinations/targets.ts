import { Injectable } from '@nestjs/common';
import type { Id } from '#kernel/ids.js';
import { type DestinationAdapter, type Target, Targets } from '#modules/destinations/contract.js';
import { AdHocTargets } from './ad-hoc-targets.js';
import { AdapterRegistry } from './adapter-registry.js';
import { DestinationTargets } from './destination-targets.js';
import { DestinationsStore } from './destinations.store.js';

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
    return this.destinations.find(environmentId, destinationId);
  }

  override known(environmentId: number, destinationId: Id): Target | null | undefined {
    return this.destinations.known(environmentId, destinationId);
  }

  override ofListed(environmentId: number, destinationId: Id): Target | null | Promise<Target | null> {
    const known = this.known(environmentId, destinationId);
    return known === undefined ? this.destinations.find(environmentId, destinationId).then(listed) : listed(known);
  }

  override ofDestinations(environmentId: number, ids: readonly Id[]): Promise<(Target | null)[]> {
    return this.destinations.ofAll(environmentId, ids);
  }

  override ofUrl(environmentId: number, url: string): Promise<Target> {
    return this.adHoc.forUrl(environmentId, url);
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

/** Returns null for the destination of a customer's endpoint, so that callers cannot access it by id. */
function listed(target: Target | null): Target | null {
  return target?.ownerId === null ? target : null;
}
