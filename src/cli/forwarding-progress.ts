/** The stored position of a tunnel, from which the next run continues. */
export interface TunnelPlace {
  /** All messages up to this id have been processed. */
  last_event_id: string;
  /** Ids of requests after `last_event_id` that were in flight. They may or may not have arrived. */
  under_way: string[];
  /** Requests after `last_event_id` that have been forwarded. */
  done: string[];
}

export interface Slot {
  readonly streamId: string;
  readonly eventId: string | null;
  state: 'waiting' | 'under_way' | 'done';
}

/** Maximum number of ids in `done`, because the file is rewritten for each request. */
const DONE_MAX = 500;

/**
 * Tracks requests that finish out of order. The stored position never passes an unfinished request, so no request is
 * lost.
 */
export class ForwardingProgress {
  private readonly slots: Slot[] = [];
  private last: string;

  constructor(last: string) {
    this.last = last;
  }

  /** Adds the next message of the event stream. `eventId` is null if the message announces no request. */
  add(streamId: string, eventId: string | null): Slot {
    const slot: Slot = { streamId, eventId, state: 'waiting' };
    this.slots.push(slot);
    return slot;
  }

  finish(slot: Slot): void {
    slot.state = 'done';
    while (this.slots[0]?.state === 'done') this.last = (this.slots.shift() as Slot).streamId;
  }

  /** Returns the position, or null until the stream has sent its first id. */
  get place(): TunnelPlace | null {
    if (this.last === '') return null;
    const idsOf = (state: Slot['state']): string[] =>
      this.slots.flatMap((slot) => (slot.state === state && slot.eventId !== null ? slot.eventId : []));
    return { last_event_id: this.last, under_way: idsOf('under_way'), done: idsOf('done').slice(-DONE_MAX) };
  }
}
