import { Injectable } from '@nestjs/common';
import { type CursorQuery, Cursors } from '#kernel/cursors.js';
import { conflict, noSuch } from '#kernel/errors.js';
import { type Id, parseId } from '#kernel/ids.js';
import type { Tenant } from '#kernel/tenant.js';
import { type Target } from '#modules/destinations/contract.js';
import { Targets } from '#modules/destinations/targets.js';
import { LiveEndpoints } from '#modules/receiving/live-endpoints.js';
import type { PullPosition } from './place.js';

/** The events that a consumer pulls: all events of a pull destination, or only those that one endpoint received. */
export interface Feed {
  environmentId: number;
  /** Id of the destination or endpoint that the caller named. The committed position is stored under this id. */
  keyId: Id;
  targetId: Id;
  /** Limits the feed to items that this endpoint received. Null for all items. */
  endpointId: Id | null;
  /** Static headers with lower-case names. Received headers with these names are hidden from the consumer. */
  staticHeaders: Readonly<Record<string, string>>;
}

@Injectable()
export class Feeds {
  constructor(
    private readonly targets: Targets,
    private readonly endpoints: LiveEndpoints,
    private readonly cursors: Cursors,
  ) {}

  /** Returns the feed of a `dst_` or `ep_` id. Throws 404 for an unknown id, and 409 if the feed cannot be pulled. */
  async find({ environmentId }: Tenant, text: string): Promise<Feed> {
    const destinationId = parseId('dst', text);
    if (destinationId !== null) return this.ofDestination(environmentId, destinationId);
    const endpointId = parseId('ep', text);
    if (endpointId !== null) return this.ofEndpoint(environmentId, endpointId);
    throw noSuch('endpoint or destination');
  }

  /** Returns a cursor that is valid only for this feed. */
  cursorAt(tenant: Tenant, feed: Feed, { position, epoch }: PullPosition): string {
    return this.cursors.issue(tenant, cursorQuery(feed), `${position}.${epoch}`);
  }

  /** Returns a cursor's position. Throws 400 if the cursor is malformed, altered, expired or of another feed. */
  placeOf(tenant: Tenant, feed: Feed, cursor: string): PullPosition {
    const parts = this.cursors.read(tenant, cursorQuery(feed), cursor).split('.');
    // Cursors of older versions contain only a position, so the epoch is taken from the first part of the position.
    return { position: parts.slice(0, 4).join('.'), epoch: Number(parts[4] ?? parts[0]) };
  }

  private async ofDestination(environmentId: number, id: Id): Promise<Feed> {
    const target = await this.targets.ofDestination(environmentId, id);
    if (target === null) throw noSuch('destination');
    if (!this.isPulled(target)) throw conflict('The destination is not of type pull: its events are sent to it.');
    return { environmentId, keyId: id, targetId: id, endpointId: null, staticHeaders: target.headers };
  }

  private async ofEndpoint(environmentId: number, id: Id): Promise<Feed> {
    const endpoint = await this.endpoints.find(environmentId, id);
    if (!endpoint) throw noSuch('endpoint');
    const pulled: Target[] = [];
    for (const destinationId of new Set(endpoint.routes.map((route) => route.destinationId))) {
      const target = await this.targets.ofDestination(environmentId, destinationId);
      if (target !== null && this.isPulled(target)) pulled.push(target);
    }
    const [target, ...others] = pulled;
    if (target === undefined) throw conflict('The endpoint has no route to a destination of type pull. Add one first.');
    if (others.length > 0)
      throw conflict('The endpoint has routes to several destinations of type pull. Name one of them by its dst_ id.');
    return { environmentId, keyId: id, targetId: target.targetId, endpointId: id, staticHeaders: target.headers };
  }

  /**
   * Returns whether the target is a pull destination. Disabled destinations are included, so that consumers can fetch
   * the remaining items.
   */
  private isPulled({ type }: Target): boolean {
    return this.targets.adapter(type).pulled;
  }
}

/**
 * Returns the properties that a cursor is bound to. The cursor of an endpoint becomes invalid if the endpoint is routed
 * to another destination.
 */
function cursorQuery({ keyId, targetId }: Feed): CursorQuery {
  return { list: 'pull', filters: { keyId, targetId } };
}
