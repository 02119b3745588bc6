import { Injectable } from '@nestjs/common';
import { Clock } from '#kernel/clock.js';
import { conflict, noSuch } from '#kernel/errors.js';
import { type Id, lowestIdAt, parseId } from '#kernel/ids.js';
import type { Tenant } from '#kernel/tenant.js';
import { Applications } from '#modules/applications/applications.js';
import { ApplicationErasures } from '#modules/events/erasure/application-erasures.js';
import { SentStore } from '#modules/events/sent.store.js';
import { FailedStore } from '#modules/ledger/failed.store.js';
import type { RecoverQuery } from './recover.js';
import { type Erased, ESTIMATE_MAX, type ReplayJob } from './replay-job.js';
import { windowOf } from './replay-range.js';
import { ReplayStart } from './replay-start.js';

export interface EraseDryRun extends Erased {
  isCapped: boolean;
}

@Injectable()
export class ApplicationJobs {
  constructor(
    private readonly applications: Applications,
    private readonly failed: FailedStore,
    private readonly sent: SentStore,
    private readonly erasures: ApplicationErasures,
    private readonly starting: ReplayStart,
    private readonly clock: Clock,
  ) {}

  /**
   * Starts a recovery for an application. Throws 404 for an unknown application, 422 for an invalid query, and 409 if
   * it has no endpoints or has an unfinished job.
   */
  async recover({ environmentId }: Tenant, application: string, query: RecoverQuery): Promise<ReplayJob> {
    const { id, endpoints } = await this.named(environmentId, application);
    const window = windowOf(query, this.clock.nowMs());
    const { fromId, beforeId } = window;
    const status = query.status ?? null;
    const targetIds = [...new Set(endpoints.map(({ destinationId }) => destinationId))];
    return this.starting.start({
      ...window,
      ...jobOf(environmentId, id),
      kind: 'recover',
      status,
      includeCancelled: query.include_cancelled ?? false,
      totalEstimate: await this.failed.count(
        { environmentId, targetIds, beforeId, fromId, status },
        null,
        ESTIMATE_MAX,
      ),
    });
  }

  /**
   * Starts a job that sends an application's events again. Throws 404 for an unknown application, 422 for an invalid
   * query, and 409 if it has no endpoints or has an unfinished job.
   */
  async replay(
    { environmentId }: Tenant,
    application: string,
    query: { since: string; until?: string },
  ): Promise<ReplayJob> {
    const { id, endpoints } = await this.named(environmentId, application);
    const window = windowOf(query, this.clock.nowMs());
    const { fromId, beforeId } = window;
    const endpointIds = endpoints.map(({ id: endpointId }) => endpointId);
    return this.starting.start({
      ...window,
      ...jobOf(environmentId, id),
      kind: 'application',
      status: null,
      includeCancelled: true,
      totalEstimate: await this.sent.count({ environmentId, endpointIds, beforeId, fromId }, ESTIMATE_MAX),
    });
  }

  /**
   * Starts the erasure of an application, which may already be deleted. Throws 404 for an unknown application, and 409
   * if it has an unfinished job.
   */
  async erase({ environmentId }: Tenant, application: string): Promise<ReplayJob> {
    const applicationId = await this.erasable(environmentId, application);
    const [fromId, beforeId] = [lowestIdAt(0), lowestIdAt(Infinity)];
    return this.starting.start({
      since: null,
      until: null,
      fromId,
      beforeId,
      ...jobOf(environmentId, applicationId),
      kind: 'erase',
      status: null,
      includeCancelled: false,
      totalEstimate: await this.erasures.count({ environmentId, applicationId, fromId, beforeId }, ESTIMATE_MAX),
    });
  }

  /** Returns the numbers of items that an erasure would remove. Throws 404 if the application does not exist. */
  async eraseDryRun({ environmentId }: Tenant, application: string): Promise<EraseDryRun> {
    const applicationId = await this.erasable(environmentId, application);
    const endpointIds = (await this.applications.endpointsOf(environmentId, applicationId)).map(({ id }) => id);
    const found = await this.erasures.preview({
      environmentId,
      applicationId,
      fromId: lowestIdAt(0),
      beforeId: lowestIdAt(Infinity),
    });
    const deliveries = endpointIds.length === 0 ? 0 : await this.erasures.waiting(environmentId, endpointIds);
    return { ...found, endpoints: endpointIds.length, deliveries };
  }

  private async named(
    environmentId: number,
    application: string,
  ): Promise<{ id: Id; endpoints: Awaited<ReturnType<Applications['endpointsOf']>> }> {
    const id = await this.applications.find(environmentId, application);
    const endpoints = await this.applications.endpointsOf(environmentId, id);
    if (endpoints.length === 0)
      throw conflict('The application has no endpoints: there is nowhere to send to.', { reason: 'no_endpoints' });
    return { id, endpoints };
  }

  private async erasable(environmentId: number, application: string): Promise<Id> {
    const id = parseId('app', application);
    if (id !== null && (await this.erasures.hasMessages(environmentId, id))) return id;
    if (application.startsWith('app_') && id === null) throw noSuch('application');
    return this.applications.find(environmentId, application);
  }
}

function jobOf(
  environmentId: number,
  id: Id,
): Pick<ReplayJob, 'environmentId' | 'endpointId' | 'applicationId' | 'targetId' | 'destinationsUsed'> & {
  destinations: null;
} {
  return { environmentId, endpointId: id, applicationId: id, targetId: null, destinations: null, destinationsUsed: [] };
}
