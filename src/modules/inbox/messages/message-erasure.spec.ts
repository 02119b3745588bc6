import type { BlobStore } from '#blobs/contract.js';
import type { EraseContent } from '#modules/events/erasure.contract.js';
import type { AttachedContents } from '#modules/events/erasure/erased-contents.js';
import type { EventSources } from '#modules/events/event-sources.js';
import { MessageErasure } from './message-erasure.js';
import type { MessagesStore } from './messages.store.js';

describe('the erasure of a message', () => {
  /** `isErasedNow` is false if an earlier run erased the row and then crashed. */
  it.each([
    ['the row and the bytes', true, true, ['row', 'bytes']],
    ['the bytes that remained after a kill', true, false, ['row', 'bytes']],
    ['nothing for an event without a message', false, false, []],
  ])('removes %s', async (_what, isKnown, isErasedNow, removed) => {
    const done: string[] = [];
    const messages = {
      isKnown: async () => isKnown,
      erase: async () => (done.push('row'), isErasedNow),
    } as unknown as MessagesStore;
    const blobs = { remove: async () => void done.push('bytes') } as unknown as BlobStore;
    let erase: EraseContent | null = null;
    const contents = { attach: (attached: EraseContent) => (erase = attached) } as unknown as AttachedContents;
    new MessageErasure(
      contents,
      { attach: () => undefined } as unknown as EventSources,
      messages,
      blobs,
    ).onModuleInit();

    await (erase as unknown as EraseContent)(1, '019aa4c0-0000-7000-8000-000000000000');

    expect(done).toEqual(removed);
  });
});
