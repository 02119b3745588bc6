import { Injectable } from '@nestjs/common';
import type { Id } from '#kernel/ids.js';
import { FailedStore } from '#modules/ledger/failed.store.js';
import { type FailedRow } from '#modules/ledger/redelivery.contract.js';
import { NamedTargets } from './named-targets.js';
import { PAGE_EVENTS, type ReplayJob } from './replay-job.js';
import type { NextPage, PageSource, ReplayPage } from './replay-pages.js';

/** Pages of failed deliveries to a target. The deliveries are sent to the same target again. */
@Injectable()
export class RecoverPages implements PageSource {
  constructor(
    private readonly failed: FailedStore,
    private readonly named: NamedTargets,
  ) {}

  async next(job: ReplayJob): Promise<NextPage> {
    const { environmentId, applicationId, endpointId } = job;
    const targetId = job.targetId ?? endpointId;
    const obstacle = await this.named.obstacleOf(environmentId, targetId, applicationId === null ? null : endpointId);
    if (obstacle !== null) return { obstacle };
    const { beforeId, fromId, status } = job;
    const rows = await this.failed.page(
      { environmentId, targetIds: [targetId], beforeId, fromId, status },
      PAGE_EVENTS,
    );
    const isOwn = ({ endpointId: of }: FailedRow): boolean =>
      applicationId === null || targetId === endpointId || of === endpointId;
    return { page: pageOf(rows.filter(isOwn), rows, targetId, job.includeCancelled), destinations: [] };
  }
}

/**
 * Returns a page without the deliveries of other endpoints. Each page has older events than the page before, but the
 * events within a page are sent oldest first.
 */
function pageOf(
  own: readonly FailedRow[],
  rows: readonly FailedRow[],
  targetId: Id,
  includesCancelled: boolean,
): ReplayPage {
  const whole = own.filter(({ isGone }) => !isGone);
  const sent = whole.filter(({ reason }) => includesCancelled || reason !== 'cancelled');
  // An event may have two deliveries to the target, from two former routes. Only one new delivery is made for both.
  const once = [...new Map(sent.map((row) => [row.eventId, row])).values()];
  return {
    deliveries: once
      .reverse()
      .map(({ eventId, expiresOn, endpointId }) => ({ eventId, expiresOn, targetId, endpointId })),
    scanned: own.length,
    replayed: once.length,
    skipped: whole.length - sent.length,
    excluded: own.length - whole.length,
    lastId: rows.at(-1)?.eventId ?? null,
    isFull: rows.length === PAGE_EVENTS,
  };
}
