import { Injectable } from '@nestjs/common';
import type { Condition } from '#engine/conditions/condition.js';
import type { RequestView } from '#engine/conditions/request-view.js';
import { noSuch } from '#kernel/errors.js';
import { type Id, Ids, parseId, showId } from '#kernel/ids.js';
import { Environments } from '#modules/auth/environments/environments.js';
import { type DestinationUser } from '#modules/destinations/destination-users.contract.js';
import { DestinationUsers } from '#modules/destinations/destination-users.js';
import { type EventAim } from '#modules/events/event-sources.contract.js';
import { EventSources } from '#modules/events/event-sources.js';
import { RuleEvaluator } from '#sandbox/rule-evaluator.js';
import { ApplicationReference } from './application-reference.js';
import { type ApplicationEndpoint, type MessageTraits, type Subscriber } from './contract.js';
import { LiveApplications } from './live-applications.js';
import { LiveApplicationsStore } from './live-applications.store.js';

@Injectable()
export class Applications {
  constructor(
    private readonly live: LiveApplications,
    private readonly store: LiveApplicationsStore,
    private readonly reference: ApplicationReference,
    private readonly ids: Ids,
    private readonly environments: Environments,
    private readonly rules: RuleEvaluator,
    sources: EventSources,
    users: DestinationUsers,
  ) {
    users.attach(async (environmentId, destinationId, max) =>
      (await this.store.endpointsTo(environmentId, destinationId, max)).map(shownUser),
    );
    sources.attach((environmentId, name) => this.aim(environmentId, name));
    sources.attachApplications(
      (environmentId, name) =>
        name.startsWith('app_') ? Promise.resolve(parseId('app', name)) : this.store.byUid(environmentId, name),
      (environmentId, name) => this.reference.resolve(environmentId, name),
    );
  }

  /**
   * Returns the endpoints that subscribe to a message, oldest first. Creates the application for an unknown uid. Throws
   * 404 for an unknown `app_` id and 422 for an invalid uid.
   */
  async subscribers(
    environmentId: number,
    application: string,
    traits: MessageTraits,
  ): Promise<{ applicationId: Id; subscribers: Subscriber[] }> {
    const { id, uid } = this.reference.parse(application);
    // Creates the application if no application has the uid, for example because it was just deleted.
    const known = id ?? (await this.live.idOrNew(environmentId, uid, () => this.ids.next()));
    const found = await this.live.get(environmentId, known);
    if (found === null) throw noSuch('application');
    const judge = async (filters: readonly Condition[], on: RequestView): Promise<(boolean | null)[]> => {
      const { organizationId } = await this.environments.get(environmentId);
      return this.rules.filters({ organization: organizationId, endpoint: found.id }, filters, on);
    };
    return { applicationId: found.id, subscribers: await found.matching(traits, judge) };
  }

  /** Returns an endpoint by its `ep_` id or its uid. Throws 404 if the application has no such endpoint. */
  async endpoint(environmentId: number, application: string, endpoint: string): Promise<ApplicationEndpoint> {
    const applicationId = await this.reference.resolve(environmentId, application);
    const found = await this.store.endpointOf(environmentId, applicationId, parseId('ep', endpoint), endpoint);
    if (found === null) throw noSuch('endpoint');
    return found;
  }

  /** Returns the application's id. Throws 404 if the application does not exist. */
  find(environmentId: number, application: string): Promise<Id> {
    return this.reference.resolve(environmentId, application);
  }

  /** Returns the endpoints of an application, oldest first; empty if the application was deleted. */
  async endpointsOf(environmentId: number, applicationId: Id): Promise<ApplicationEndpoint[]> {
    const rows = await this.store.endpoints(environmentId, applicationId);
    return rows.map(({ id, destinationId }) => ({ applicationId, id, destinationId }));
  }

  findEndpoint(environmentId: number, endpointId: Id): Promise<ApplicationEndpoint | null> {
    return this.store.endpoint(environmentId, endpointId);
  }

  /**
   * Returns the condition that selects an endpoint's deliveries: by target if it has its own URL, otherwise by endpoint
   * id.
   */
  private async aim(environmentId: number, name: string): Promise<EventAim | null> {
    const id = parseId('ep', name);
    const found = id && (await this.store.endpoint(environmentId, id));
    if (!found) return null;
    const { applicationId } = found;
    return found.destinationId === found.id
      ? { targetId: found.id, applicationId }
      : { endpointId: found.id, applicationId };
  }
}

const shownUser = ({ id, applicationId }: ApplicationEndpoint): DestinationUser => ({
  kind: 'application_endpoint',
  id: showId('ep', id),
  application: showId('app', applicationId),
});
