import { Injectable } from '@nestjs/common';
import { Database } from '#kernel/database/database.js';
import type { Id } from '#kernel/ids.js';
import { Cancellations } from '#modules/ledger/cancellations.js';
import { EraseStore } from './erase.store.js';
import { AttachedContents } from './erased-contents.js';

@Injectable()
export class Erase {
  constructor(
    private readonly store: EraseStore,
    private readonly cancellations: Cancellations,
    private readonly contents: AttachedContents,
    private readonly database: Database,
  ) {}

  /** Cancels all deliveries of an event or a message. Returns null if the environment has no such event or message. */
  async cancel(environmentId: number, id: Id): Promise<number | null> {
    const members = await this.store.members(environmentId, id);
    return members.length === 0
      ? null
      : this.cancellations.ofEvents(
          environmentId,
          members.map((member) => member.id),
          'cancelled',
        );
  }

  /**
   * Erases the payload of the event and of all other events of its message, and cancels their waiting deliveries. The
   * payload is erased first. If this process then stops, workers end the waiting deliveries without an attempt, because
   * their payload is erased. Returns false if there is no such event. Safe to repeat.
   */
  async erase(environmentId: number, id: Id): Promise<boolean> {
    const named = await this.store.members(environmentId, id);
    const [first] = named;
    if (first === undefined) return false;
    const members =
      first.messageId === null || first.messageId === id
        ? named
        : await this.store.members(environmentId, first.messageId);
    // File deletions cannot be rolled back, so the caller's earlier changes, such as the record of the erasure request,
    // are committed before any file is deleted.
    await this.database.commitEarly();
    if (first.messageId === null) await this.store.event(environmentId, id);
    else await this.store.message(environmentId, first.messageId);
    await this.cancellations.ofEvents(
      environmentId,
      members.map((member) => member.id),
      'erased',
    );
    if (first.messageId === null) await this.contents.erase(environmentId, id);
    return true;
  }

  erasedAt(environmentId: number, id: Id): Promise<Date | null> {
    return this.store.erasedAt(environmentId, id);
  }
}
