import { Injectable } from '@nestjs/common';
import type { Id } from '#kernel/ids.js';
import { Applications } from '#modules/applications/applications.js';
import { type ApplicationEndpoint } from '#modules/applications/contract.js';
import { SentStore } from '#modules/events/sent.store.js';
import { FailedStore } from '#modules/ledger/failed.store.js';
import { type Redelivered } from '#modules/ledger/redelivery.contract.js';
import { NamedTargets } from './named-targets.js';
import { PAGE_EVENTS, type ReplayJob } from './replay-job.js';
import type { NextPage, PageSource } from './replay-pages.js';

interface Sent {
  eventId: Id;
  expiresOn: string;
  endpointId: Id;
  isGone: boolean;
  isCancelled: boolean;
}

/** Pages of an application's events (all, or only failed ones), with the current targets of its endpoints. */
@Injectable()
export class ApplicationPages implements PageSource {
  constructor(
    private readonly applications: Applications,
    private readonly failed: FailedStore,
    private readonly sent: SentStore,
    private readonly named: NamedTargets,
  ) {}

  /** Returns the next page. Skips and counts events for endpoints that accept no deliveries. */
  async next(job: ReplayJob): Promise<NextPage> {
    const { environmentId, endpointId: applicationId } = job;
    const endpoints = new Map(
      (await this.applications.endpointsOf(environmentId, applicationId)).map((endpoint) => [endpoint.id, endpoint]),
    );
    if (endpoints.size === 0) return { obstacle: 'The application has no endpoints any more.' };
    const { rows, lastId, isFull } =
      job.kind === 'recover' ? await this.failures(job, endpoints) : await this.all(job, endpoints);
    const obstacles = new Map<Id, string | null>();
    for (const id of new Set(rows.map(({ endpointId }) => endpointId))) {
      obstacles.set(id, await this.named.obstacleOf(environmentId, endpoints.get(id)?.destinationId ?? id, id));
    }
    const whole = rows.filter(({ isGone }) => !isGone);
    const taken = whole.filter(
      ({ endpointId, isCancelled }) => obstacles.get(endpointId) === null && (job.includeCancelled || !isCancelled),
    );
    const once = [...new Map(taken.map((row) => [row.eventId, row])).values()].reverse();
    const deliveries = once.map(({ eventId, expiresOn, endpointId }): Redelivered => {
      const targetId = endpoints.get(endpointId)?.destinationId ?? endpointId;
      return { eventId, expiresOn, targetId, endpointId: targetId === endpointId ? null : endpointId };
    });
    const page = {
      deliveries,
      scanned: rows.length,
      replayed: once.length,
      skipped: whole.length - taken.length,
      excluded: rows.length - whole.length,
      lastId,
      isFull,
    };
    return { page, destinations: [] };
  }

  private async all(
    { environmentId, beforeId, fromId }: ReplayJob,
    endpoints: ReadonlyMap<Id, ApplicationEndpoint>,
  ): Promise<Found> {
    const rows = await this.sent.page(
      { environmentId, endpointIds: [...endpoints.keys()], beforeId, fromId },
      PAGE_EVENTS,
    );
    return {
      rows: rows.map(({ id, ...row }) => ({ ...row, eventId: id, isCancelled: false })),
      lastId: rows.at(-1)?.id ?? null,
      isFull: rows.length === PAGE_EVENTS,
    };
  }

  /** Returns a page of failed deliveries. Leaves out deliveries of other endpoints that use the same destination. */
  private async failures(
    { environmentId, beforeId, fromId, status }: ReplayJob,
    endpoints: ReadonlyMap<Id, ApplicationEndpoint>,
  ): Promise<Found> {
    const targetIds = [...new Set([...endpoints.values()].map(({ destinationId }) => destinationId))];
    const rows = await this.failed.page({ environmentId, targetIds, beforeId, fromId, status }, PAGE_EVENTS);
    return {
      rows: rows.flatMap(({ endpointId, targetId, reason, ...row }) => {
        const endpoint = endpoints.get(endpointId ?? targetId);
        return endpoint?.destinationId === targetId
          ? [{ ...row, endpointId: endpoint.id, isCancelled: reason === 'cancelled' }]
          : [];
      }),
      lastId: rows.at(-1)?.eventId ?? null,
      isFull: rows.length === PAGE_EVENTS,
    };
  }
}

interface Found {
  rows: Sent[];
  lastId: Id | null;
  isFull: boolean;
}
