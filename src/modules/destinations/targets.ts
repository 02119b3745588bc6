import { Injectable } from '@nestjs/common';
import { ApiError } from '#kernel/errors.js';
import type { Id } from '#kernel/ids.js';
import { AdHocTargets } from './ad-hoc-targets.js';
import { AdapterRegistry } from './adapter-registry.js';
import { type DestinationAdapter, type Queueing, type Target } from './contract.js';
import { DestinationTargets } from './destination-targets.js';
import { DestinationsStore } from './destinations.store.js';

/**
 * Reads targets through a cache. Changes invalidate cache entries on every node. Entries are at most five seconds old.
 */
@Injectable()
export class Targets {
  constructor(
    private readonly destinations: DestinationTargets,
    private readonly adHoc: AdHocTargets,
    private readonly adapters: AdapterRegistry,
    private readonly store: DestinationsStore,
  ) {}

  /**
   * Returns the target of a destination, even if the destination is disabled. Returns `null` if this environment has no
   * such destination.
   */
  ofDestination(environmentId: number, destinationId: Id): Promise<Target | null> {
    return this.destinations.find(environmentId, destinationId);
  }

  /** Returns the cached result of `ofDestination`, or `undefined` if no result is cached. */
  known(environmentId: number, destinationId: Id): Target | null | undefined {
    return this.destinations.known(environmentId, destinationId);
  }

  /**
   * Returns the target of a destination whose id a caller gave. Returns `null` for the destination of an application's
   * endpoint, because such destinations are not listed. Returns a promise only if the target has to be loaded.
   */
  ofListed(environmentId: number, destinationId: Id): Target | null | Promise<Target | null> {
    const known = this.known(environmentId, destinationId);
    return known === undefined ? this.destinations.find(environmentId, destinationId).then(listed) : listed(known);
  }

  /**
   * Returns targets in the order of `ids`. One statement loads the targets that are not in the cache. A result is
   * `null` if the target does not exist. It is also `null` if the secrets in its headers cannot be resolved, which the
   * attempt then reports. Rejects if the database is unavailable.
   */
  ofDestinations(environmentId: number, ids: readonly Id[]): Promise<(Target | null)[]> {
    return this.destinations.ofAll(environmentId, ids);
  }

  /** Returns the target of an ad-hoc URL. Throws 422 if sending to the URL is not allowed. */
  ofUrl(environmentId: number, url: string): Promise<Target> {
    return this.adHoc.forUrl(environmentId, url);
  }

  /**
   * Returns the adapter for a type. If the type's extension is not loaded, returns an adapter whose attempts fail with
   * that reason.
   */
  adapter(type: string): DestinationAdapter {
    return this.adapters.serving(type);
  }

  pulledTypes(): string[] {
    return this.adapters.pulledTypes();
  }

  /** Disables a destination after a 410 response, until a PATCH request enables it. */
  disable(environmentId: number, destinationId: Id, reason: string): Promise<void> {
    return this.store.disable(environmentId, destinationId, reason);
  }

  /** Returns a stored delivery's target. `null` if the target was deleted or its ad-hoc URL is no longer allowed. */
  ofDelivery(
    environmentId: number,
    { targetId, url }: { targetId: Id; url: string | null },
  ): Target | null | Promise<Target | null> {
    if (url !== null) return this.ofStoredUrl(environmentId, url);
    return this.known(environmentId, targetId) ?? this.ofDestination(environmentId, targetId);
  }

  /**
   * Returns the settings for queueing a received event. If the destination is deleted or disabled, or its secrets cannot
   * be read, returns defaults, so that the event's other deliveries are not affected. The delivery to that destination
   * then fails and can be sent again. Throws 503 while storage is unavailable: with defaults, a pull destination would
   * get the event after events that were accepted later. Returns a promise only if the target has to be loaded.
   */
  queueing(environmentId: number, destinationId: Id): Queueing | Promise<Queueing> {
    const known = this.known(environmentId, destinationId);
    if (known !== undefined) return this.queueingOf(known);
    return this.ofDestination(environmentId, destinationId).then(
      (target) => this.queueingOf(target),
      (error: unknown) => {
        if (error instanceof ApiError && error.type === 'unavailable') throw error;
        return this.queueingOf(null);
      },
    );
  }

  private queueingOf(target: Target | null): Queueing {
    return {
      pulled: target !== null && this.adapter(target.type).pulled,
      ratePerSecond: target?.ratePerSecond ?? null,
      concurrency: target?.concurrency ?? null,
    };
  }

  private async ofStoredUrl(environmentId: number, url: string): Promise<Target | null> {
    try {
      return await this.ofUrl(environmentId, url);
    } catch (error) {
      if (error instanceof ApiError && error.type === 'validation_failed') return null;
      throw error;
    }
  }
}

/** Returns null for the destination of an application's endpoint, so that callers cannot access it by id. */
function listed(target: Target | null): Target | null {
  return target?.ownerId === null ? target : null;
}
