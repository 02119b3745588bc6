import { Injectable } from '@nestjs/common';
import { type Id, idTimeMs, showId } from '#kernel/ids.js';
import { DeadLettersStore } from '#modules/events/attempts/dead-letters.store.js';
import { type Batch, BatchesStore } from './batches.store.js';
import type { SystemEvent } from './contract.js';

const EXAMPLES_MAX = 10;

@Injectable()
export class Composing {
  constructor(
    private readonly batches: BatchesStore,
    private readonly deadLetters: DeadLettersStore,
  ) {}

  /** Returns the event without the items of the subject `except`, or null if no items are left. */
  async compose(batch: Batch, except: Id | null): Promise<SystemEvent | null> {
    const items = await this.batches.read(batch, except);
    const [first] = items;
    if (!first) return null;
    const { environmentId, type, id } = batch;
    const subjects = items.map(({ subject }) => subject);
    const latest =
      type === 'event.dead_lettered' ? await this.deadLetters.latest(environmentId, subjects, EXAMPLES_MAX) : null;
    return {
      id,
      environmentId,
      type,
      timestamp: new Date(idTimeMs(id)).toISOString(),
      data: {
        count: first.total,
        first_at: first.firstAt.toISOString(),
        last_at: first.lastAt.toISOString(),
        items: items.map(({ subject, details, count, at }) => ({
          ...details,
          ...(at && { at: at.toISOString() }),
          ...(latest && { event_ids: shown(latest.get(subject)) }),
          count,
        })),
        items_truncated: first.subjects > items.length,
      },
    };
  }
}

const shown = (eventIds: readonly Id[] = []): string[] => eventIds.map((id) => showId('evt', id));
