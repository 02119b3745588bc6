import { Injectable } from '@nestjs/common';
import { type Id, lowestIdAt } from '#kernel/ids.js';
import { Cancellations } from '#modules/ledger/cancellations.js';
import { type ErasedStretch, type ErasurePreview, type ErasureRange } from '../erasure.contract.js';
import { ApplicationErasureStore } from './application-erasure.store.js';

const MESSAGES_MAX = 500;
/** Maximum number of events per step. A message with more events is erased in its own step. */
const EVENTS_MAX = 2_000;
/** Maximum number of messages and events that one preview scans. Such a scan takes about a second. */
const PREVIEW_MAX = 20_000;

@Injectable()
export class ApplicationErasures {
  constructor(
    private readonly store: ApplicationErasureStore,
    private readonly cancellations: Cancellations,
  ) {}

  async hasMessages(environmentId: number, applicationId: Id): Promise<boolean> {
    return (
      (await this.count({ environmentId, applicationId, fromId: lowestIdAt(0), beforeId: lowestIdAt(Infinity) }, 1)) > 0
    );
  }

  count(range: ErasureRange, max: number): Promise<number> {
    return this.store.count(range, max);
  }

  waiting(environmentId: number, endpointIds: readonly Id[]): Promise<number> {
    return this.store.waiting(environmentId, endpointIds);
  }

  /** Counts what `eraseNewest` would erase. Scans a bounded number of rows, newest first. Changes nothing. */
  async preview(range: ErasureRange): Promise<ErasurePreview> {
    const { environmentId } = range;
    const found: ErasurePreview = { messages: 0, attempts: 0, isCapped: false };
    for (let scanned = 0, { beforeId } = range; ;) {
      const messages = stretchOf(await this.store.page({ ...range, beforeId }, MESSAGES_MAX));
      const last = messages.at(-1);
      if (last === undefined) return found;
      if (scanned >= PREVIEW_MAX) return { ...found, isCapped: true };
      const events = await this.store.events(environmentId, messages);
      found.messages += messages.filter(({ isErased }) => !isErased).length;
      found.attempts += events.length === 0 ? 0 : await this.store.countExcerpts(environmentId, events);
      scanned += messages.length + events.length;
      beforeId = last.id;
    }
  }

  /**
   * Erases the newest messages of a range, payloads first. If this process then stops, workers end the waiting
   * deliveries without an attempt. Erases response excerpts only if no delivery is open, because an attempt in flight
   * could still write an excerpt.
   */
  async eraseNewest(range: ErasureRange): Promise<ErasedStretch> {
    const { environmentId } = range;
    const messages = stretchOf(await this.store.page(range, MESSAGES_MAX));
    if (messages.length === 0) return { scanned: 0, messages: 0, attempts: 0, lastId: null, isPending: false };
    const erased = await this.store.erase(environmentId, messages);
    const events = await this.store.events(environmentId, messages);
    if (events.length > 0)
      await this.cancellations.ofEvents(
        environmentId,
        events.map(({ id }) => id),
        'erased',
      );
    const isPending = events.length > 0 && (await this.store.isOpen(environmentId, events));
    const attempts = events.length === 0 || isPending ? 0 : await this.store.eraseExcerpts(environmentId, events);
    return { scanned: messages.length, messages: erased, attempts, lastId: messages.at(-1)?.id ?? null, isPending };
  }
}

function stretchOf<T extends { fanout: number }>(page: readonly T[]): T[] {
  let events = 0;
  const end = page.findIndex(({ fanout }) => (events += fanout) > EVENTS_MAX);
  return page.slice(0, end === -1 ? undefined : Math.max(end, 1));
}
