import { Injectable, type OnModuleInit } from '@nestjs/common';
import { BlobStore } from '#blobs/contract.js';
import type { Id } from '#kernel/ids.js';
import { parseId } from '#kernel/ids.js';
import { AttachedContents } from '#modules/events/erasure/erased-contents.js';
import { EventSources } from '#modules/events/event-sources.js';
import { MessagesStore } from './messages.store.js';

/**
 * Erases a received message when the payload of its event is erased. Also registers the lookup of alias ids in event
 * filters.
 */
@Injectable()
export class MessageErasure implements OnModuleInit {
  constructor(
    private readonly contents: AttachedContents,
    private readonly sources: EventSources,
    private readonly messages: MessagesStore,
    private readonly blobs: BlobStore,
  ) {}

  onModuleInit(): void {
    this.contents.attach((environmentId, eventId) => this.erase(environmentId, eventId));
    this.sources.attach(async (_environmentId, name) => {
      const endpointId = parseId('al', name);
      return endpointId === null ? null : { endpointId, applicationId: null };
    });
  }

  /** Erases the row first, so that its bytes are no longer read. After a crash, a retry deletes the bytes. */
  private async erase(environmentId: number, id: Id): Promise<void> {
    if (!(await this.messages.isKnown(environmentId, id))) return;
    await this.messages.erase(environmentId, id);
    await this.blobs.remove({ environmentId, id });
  }
}
