import type { Id } from '#kernel/ids.js';

/** Range of messages to erase. `beforeId` is exclusive. */
export interface ErasureRange {
  environmentId: number;
  applicationId: Id;
  fromId: Id;
  beforeId: Id;
}

export interface ErasedStretch {
  scanned: number;
  messages: number;
  /** Number of attempts whose response excerpts were erased. */
  attempts: number;
  /** Id of the oldest message processed by this call, or null if the range contains no messages. */
  lastId: Id | null;
  /** True if an attempt in flight may still store a response. The caller must then repeat the call. */
  isPending: boolean;
}

export interface ErasurePreview {
  /** Number of messages that would be erased. */
  messages: number;
  /** Number of attempts whose response excerpts would be erased. */
  attempts: number;
  /** True if counting stopped before the oldest message. The actual numbers may then be higher. */
  isCapped: boolean;
}

/** Erases the content that another module stores for an event. Does nothing without such content. Safe to repeat. */
export type EraseContent = (environmentId: number, eventId: Id) => Promise<void>;

/**
 * Returns those of the events that were canceled, and whose content another module has deleted. Such an event cannot be
 * sent again.
 */
export type FindCanceled = (environmentId: number, events: readonly StoredEventKey[]) => Promise<readonly Id[]>;

export interface StoredEventKey {
  eventId: Id;
  /** Day of the event's partition, as `YYYY-MM-DD`. */
  expiresOn: string;
}
