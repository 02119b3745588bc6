import { Injectable } from '@nestjs/common';
import { EventSources, type EventAim } from '#modules/ledger/accept.contract.js';
import { notFound } from '#kernel/errors.js';
import { Ids, parseId, type Id } from '#kernel/ids.js';
import { ApplicationReference } from './application-reference.js';
import { Applications, type ApplicationEndpoint, type MessageTraits, type Subscriber } from './contract.js';
import { LiveApplications } from './live-applications.js';
import { LiveApplicationsStore } from './live-applications.store.js';

/** Applications for other contexts. */
@Injectable()
export class KnownApplications extends Applications {
  constructor(
    private readonly live: LiveApplications,
    private readonly store: LiveApplicationsStore,
    private readonly reference: ApplicationReference,
    private readonly ids: Ids,
    sources: EventSources,
  ) {
    super();
    sources.attach((environmentId, name) => this.aim(environmentId, name));
  }

  override async subscribers(
    environmentId: number, application: string, { eventType, channels, view }: MessageTraits,
  ): Promise<{ applicationId: Id; subscribers: Subscriber[] }> {
    const { id, uid } = this.reference.parse(application);
    // One that was deleted a moment ago under its uid is made anew.
    const known = id ?? (await this.live.idOrNew(environmentId, uid, () => this.ids.next()));
    const found = await this.live.get(environmentId, known);
    if (found === null) throw notFound('application');
    return { applicationId: found.id, subscribers: await found.matching(eventType, channels, view) };
  }

  override async endpoint(environmentId: number, application: string, endpoint: string): Promise<ApplicationEndpoint> {
    const applicationId = await this.reference.resolve(environmentId, application);
    const found = await this.store.endpointOf(environmentId, applicationId, parseId('ep', endpoint), endpoint);
    if (found === null) throw notFound('endpoint');
    return found;
  }

  override findEndpoint(environmentId: number, endpointId: Id): Promise<ApplicationEndpoint | null> {
    return this.store.endpoint(environmentId, endpointId);
  }

  /** What is sent to an endpoint with a URL of its own is counted under the endpoint's id as its target. */
  private async aim(environmentId: number, name: string): Promise<EventAim | null> {
    const id = parseId('ep', name);
    const found = id && (await this.store.endpoint(environmentId, id));
    if (!found) return null;
    return found.destinationId === found.id ? { targetId: found.id } : { endpointId: found.id };
  }
}
