import { Injectable } from '@nestjs/common';
import { EventSelections } from '#modules/events/event-selections.js';
import { Cancellations } from '#modules/ledger/cancellations.js';
import { PAGE_EVENTS, type ReplayJob } from './replay-job.js';
import type { WorkDone, WorkSource } from './replay-pages.js';

/**
 * Cancels deliveries in pages. After a crash, a page can be repeated, because canceled deliveries are no longer
 * selected.
 */
@Injectable()
export class CancelWork implements WorkSource {
  constructor(
    private readonly selections: EventSelections,
    private readonly cancellations: Cancellations,
  ) {}

  async work({
    environmentId,
    selection,
    beforeId,
    fromId,
    scanned,
  }: ReplayJob): Promise<WorkDone | { obstacle: string }> {
    if (selection === null) return { obstacle: 'The job has no filter.' };
    const { filter, max } = selection;
    const { events, beforeId: nextId } = await this.selections.page(
      environmentId,
      { ...filter, beforeId, fromId },
      Math.min(PAGE_EVENTS, max - scanned),
    );
    const ids = events.map(({ id }) => id);
    const cancelled =
      ids.length === 0 ? 0 : await this.cancellations.ofEvents(environmentId, ids, 'cancelled', filter.destinationId);
    return {
      scanned: ids.length,
      replayed: 0,
      skipped: 0,
      excluded: 0,
      enqueued: 0,
      cancelled,
      beforeId: nextId ?? ids.at(-1) ?? beforeId,
      isOver: nextId === null || scanned + ids.length >= max,
    };
  }
}
