import { Injectable } from '@nestjs/common';
import { ApiError, noSuch } from '#kernel/errors.js';
import { type Id, parseId } from '#kernel/ids.js';
import type { Tenant } from '#kernel/tenant.js';
import { Applications } from '#modules/applications/applications.js';
import { type ApplicationEndpoint } from '#modules/applications/contract.js';
import { EndpointConditions } from '#modules/applications/endpoint-conditions.js';
import { Targets } from '#modules/destinations/targets.js';

export interface NamedTarget {
  environmentId: number;
  id: Id;
  /** Application of the endpoint. `null` for a destination. */
  applicationId: Id | null;
  /** Target of the deliveries. For an endpoint with its own URL, this is the endpoint itself. */
  targetId: Id;
  /**
   * Endpoint whose deliveries are selected, if it shares the target with others. `null` for all deliveries to the
   * target.
   */
  endpointId: Id | null;
  /** Reason why the target accepts no deliveries, as a sentence. `null` if it accepts them. */
  obstacle: string | null;
}

@Injectable()
export class NamedTargets {
  constructor(
    private readonly targets: Targets,
    private readonly applications: Applications,
    private readonly conditions: EndpointConditions,
  ) {}

  /** Returns a destination as the target of a job. Throws 404 if it does not exist. */
  async destination({ environmentId }: Tenant, text: string): Promise<NamedTarget> {
    const id = parseId('dst', text);
    const target = id && (await this.targets.ofListed(environmentId, id));
    if (!id || !target) throw noSuch('destination');
    return {
      environmentId,
      id,
      applicationId: null,
      targetId: id,
      endpointId: null,
      obstacle: await this.obstacle(environmentId, id, null),
    };
  }

  /** Returns destination ids in the order of `texts`, with null in place of each unknown or internal destination. */
  listed({ environmentId }: Tenant, texts: readonly string[]): Promise<(Id | null)[]> {
    return Promise.all(
      texts.map(async (text) => {
        const id = parseId('dst', text);
        return id !== null && (await this.targets.ofListed(environmentId, id)) !== null ? id : null;
      }),
    );
  }

  /** Returns an application's endpoint as the target of a job. Accepts ids and uids. Throws 404 if it is unknown. */
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

  /** Returns the reason why the target of a job no longer accepts deliveries, or `null` if it accepts them. */
  async obstacleOf(environmentId: number, targetId: Id, endpointId: Id | null): Promise<string | null> {
    if (endpointId === null) return this.obstacle(environmentId, targetId, null);
    const endpoint = await this.applications.findEndpoint(environmentId, endpointId);
    return endpoint ? this.obstacle(environmentId, targetId, endpoint) : 'The endpoint was deleted.';
  }

  /**
   * Returns the reason why the target accepts no deliveries or cannot be used, for example because a secret is missing.
   * Returns `null` if there is no reason.
   */
  async reasonAgainst(environmentId: number, targetId: Id, endpointId: Id | null): Promise<string | null> {
    try {
      return await this.obstacleOf(environmentId, targetId, endpointId);
    } catch (error) {
      if (error instanceof ApiError && error.type === 'conflict') return error.message;
      throw error;
    }
  }

  /**
   * Returns the reason why the target of an application's endpoint cannot be used, or `null`. Also returns `null` for
   * the ids of inbound and deleted endpoints.
   */
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
