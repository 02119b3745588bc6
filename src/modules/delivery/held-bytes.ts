import type { Id } from '#kernel/ids.js';

interface Held {
  messageId?: Id | null;
  payload: string | Buffer | null;
}

/** Number of payload bytes in memory. All deliveries of one event share one payload, which is counted once. */
export class HeldBytes {
  total = 0;
  private readonly sharers = new Map<Id, number>();

  hold({ messageId, payload }: Held): void {
    const others = messageId ? (this.sharers.get(messageId) ?? 0) : 0;
    if (messageId) this.sharers.set(messageId, others + 1);
    if (others === 0) this.total += payload?.length ?? 0;
  }

  letGo({ messageId, payload }: Held): void {
    const others = messageId ? (this.sharers.get(messageId) ?? 1) - 1 : 0;
    if (messageId && others > 0) this.sharers.set(messageId, others);
    else if (messageId) this.sharers.delete(messageId);
    if (others === 0) this.total -= payload?.length ?? 0;
  }
}
