import { Injectable } from '@nestjs/common';
import { ApiError, notFound } from '#kernel/errors.js';
import { type Id, parseId } from '#kernel/ids.js';
import type { Tenant } from '#kernel/tenant.js';
import { type ApplicationEndpoint, Applications, EndpointConditions } from '#modules/applications/contract.js';
import { Targets } from '#modules/destinations/contract.js';

/** A destination, or an application's endpoint, as the target of deliveries. */
export interface NamedTarget {
  environmentId: number;
  /** The endpoint's or the destination's own id. */
  id: Id;
  /** Null for a destination. */
  applicationId: Id | null;
  /** Where its deliveries go: the endpoint itself when it has a URL of its own. */
  targetId: Id;
  /** Of the deliveries to the target only those of this endpoint, which shares it with others; null for all. */
  endpointId: Id | null;
  /** Why it takes no deliveries, in a sentence; null while it does. */
  obstacle: string | null;
}

/** Finds what can be recovered and cancelled, and whether it takes deliveries. */
@Injectable()
export class NamedTargets {
  constructor(
    private readonly targets: Targets,
    private readonly applications: Applications,
    private readonly conditions: EndpointConditions,
  ) {}

  /** By its `dst_` id. Throws 404. */
  async destination({ environmentId }: Tenant, text: string): Promise<NamedTarget> {
    const id = parseId('dst', text);
    const target = id && (await this.targets.ofListed(environmentId, id));
    if (!id || !target) throw notFound('destination');
    return {
      environmentId,
      id,
      applicationId: null,
      targetId: id,
      endpointId: null,
      obstacle: await this.obstacle(environmentId, id, null),
    };
  }

  /** Destinations by their `dst_` ids, in their order; null for what is none of this environment, or belongs to an application's endpoint. */
  listed({ environmentId }: Tenant, texts: readonly string[]): Promise<(Id | null)[]> {
    return Promise.all(
      texts.map(async (text) => {
        const id = parseId('dst', text);
        return id !== null && (await this.targets.ofListed(environmentId, id)) !== null ? id : null;
      }),
    );
  }

  /** By the application's and the endpoint's ids or uids. Throws 404. */
  async endpoint({ environmentId }: Tenant, application: string, endpoint: string): Promise<NamedTarget> {
    const found = await this.applications.endpoint(environmentId, application, endpoint);
    const { id, applicationId, destinationId: targetId } = found;
    const endpointId = targetId === id ? null : id;
    return {
      environmentId,
      id,
      applicationId,
      targetId,
      endpointId,
      obstacle: await this.obstacle(environmentId, targetId, found),
    };
  }

  /** Why what a job is about takes no deliveries any more, or null. */
  async obstacleOf(environmentId: number, targetId: Id, endpointId: Id | null): Promise<string | null> {
    if (endpointId === null) return this.obstacle(environmentId, targetId, null);
    const endpoint = await this.applications.findEndpoint(environmentId, endpointId);
    return endpoint ? this.obstacle(environmentId, targetId, endpoint) : 'The endpoint was deleted.';
  }

  /** The same; settings that can't be used, such as a secret that is missing, are a reason too. */
  async reasonAgainst(environmentId: number, targetId: Id, endpointId: Id | null): Promise<string | null> {
    try {
      return await this.obstacleOf(environmentId, targetId, endpointId);
    } catch (error) {
      if (error instanceof ApiError && error.type === 'conflict') return error.message;
      throw error;
    }
  }

  /** The same of the application's endpoint with this id; null for an endpoint that receives, or that is gone. */
  async reasonAgainstEndpoint(environmentId: number, endpointId: Id): Promise<string | null> {
    const endpoint = await this.applications.findEndpoint(environmentId, endpointId);
    return endpoint && this.reasonAgainst(environmentId, endpoint.destinationId, endpoint.id);
  }

  private async obstacle(
    environmentId: number,
    targetId: Id,
    endpoint: ApplicationEndpoint | null,
  ): Promise<string | null> {
    if (endpoint !== null && endpoint.destinationId !== targetId) return 'The endpoint has another destination now.';
    const target = await this.targets.ofDestination(environmentId, targetId);
    const noun = endpoint?.id === targetId || (target?.ownerId ?? null) !== null ? 'endpoint' : 'destination';
    if (target === null) return `The ${noun} was deleted.`;
    if (target.status === 'disabled') return `The ${noun} is disabled.`;
    const isOff = endpoint !== null && (await this.conditions.find(environmentId, endpoint.id)).status === 'disabled';
    return isOff ? 'The endpoint is disabled.' : null;
  }
}
