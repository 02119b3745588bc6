import { Injectable } from '@nestjs/common';
import type { Id } from '#kernel/ids.js';
import { type EraseContent, type FindCanceled, type StoredEventKey } from '../erasure.contract.js';

/**
 * Registry of modules that store their own copies of event content. These copies are erased together with the payload.
 */
@Injectable()
export class AttachedContents {
  private readonly erasers: EraseContent[] = [];
  private readonly finders: FindCanceled[] = [];

  /** Registers a module. `findCanceled` is necessary if the module deletes the content of canceled events. */
  attach(erase: EraseContent, findCanceled?: FindCanceled): void {
    this.erasers.push(erase);
    if (findCanceled !== undefined) this.finders.push(findCanceled);
  }

  async erase(environmentId: number, eventId: Id): Promise<void> {
    for (const erase of this.erasers) await erase(environmentId, eventId);
  }

  /** Returns those of the events that were canceled, and that have no content to send any more. */
  async canceledAmong(environmentId: number, events: readonly StoredEventKey[]): Promise<ReadonlySet<Id>> {
    if (events.length === 0) return new Set();
    const found = await Promise.all(this.finders.map((find) => find(environmentId, events)));
    return new Set(found.flat());
  }
}
