import { Injectable } from '@nestjs/common';
import { AttachedContents } from '#modules/events/erasure/erased-contents.js';
import { EventSelections } from '#modules/events/event-selections.js';
import { Redeliveries } from '#modules/ledger/redeliveries.js';
import { type SendableRow } from '#modules/ledger/redelivery.contract.js';
import { NamedTargets } from './named-targets.js';
import { PAGE_EVENTS, type ReplayJob } from './replay-job.js';
import type { NextPage, PageSource } from './replay-pages.js';

/**
 * Pages of the events that a filter selects, with all original targets. A recovery includes only targets with failed
 * deliveries.
 */
@Injectable()
export class SelectedPages implements PageSource {
  constructor(
    private readonly selections: EventSelections,
    private readonly contents: AttachedContents,
    private readonly redeliveries: Redeliveries,
    private readonly named: NamedTargets,
  ) {}

  /** Returns the next page. Skips and counts events without content, and those for targets that accept no deliveries. */
  async next({ environmentId, selection, beforeId, fromId, scanned, includeCancelled }: ReplayJob): Promise<NextPage> {
    if (selection === null) return { obstacle: 'The job has no filter.' };
    const { filter, max, action } = selection;
    const { events, beforeId: nextId } = await this.selections.page(
      environmentId,
      { ...filter, beforeId, fromId },
      Math.min(PAGE_EVENTS, max - scanned),
    );
    const which = {
      isUndelivered: action === 'recover',
      includesCancelled: includeCancelled,
      targetId: filter.destinationId ?? null,
    };
    // Later pages contain older events, but the events of one page are sent oldest first.
    const rows =
      events.length === 0 ? [] : await this.redeliveries.whereabouts(environmentId, events.toReversed(), which);
    const canceled = await this.contents.canceledAmong(environmentId, rows);
    const whole = rows.filter(({ isGone, eventId }) => !isGone && !canceled.has(eventId));
    const taken = await this.taken(environmentId, whole);
    const [replayed, excluded] = [countEvents(taken), countEvents(rows) - countEvents(whole)];
    return {
      destinations: [],
      page: {
        deliveries: taken,
        scanned: events.length,
        replayed,
        excluded,
        skipped: events.length - replayed - excluded,
        lastId: nextId ?? events.at(-1)?.id ?? null,
        isFull: nextId !== null && scanned + events.length < max,
      },
    };
  }

  /** Returns the rows whose target accepts deliveries. Checks each target once. */
  private async taken(environmentId: number, rows: readonly SendableRow[]): Promise<SendableRow[]> {
    const obstacles = new Map<string, string | null>();
    const taken: SendableRow[] = [];
    for (const row of rows) {
      const key = `${row.targetId} ${row.applicationEndpointId} ${row.isAdHoc}`;
      if (!obstacles.has(key))
        obstacles.set(
          key,
          row.isAdHoc ? null : await this.named.reasonAgainst(environmentId, row.targetId, row.applicationEndpointId),
        );
      if (obstacles.get(key) === null) taken.push(row);
    }
    return taken;
  }
}

function countEvents(rows: readonly SendableRow[]): number {
  return new Set(rows.map(({ eventId }) => eventId)).size;
}
