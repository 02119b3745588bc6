import type { Id } from '#kernel/ids.js';

/** Range of messages to erase. The end of the range of ids is exclusive. */
export interface ErasureRange {
  environmentId: number;
  applicationId: Id;
  fromId: Id;
  beforeId: Id;
}

export interface ErasedStretch {
  scanned: number;
  messages: number;
  /** Number of attempts whose excerpts were erased in this step. */
  attempts: number;
  /** The oldest message of this step; null if there was none. */
  lastId: Id | null;
  /** True if an attempt was in flight, whose response would still be stored. The caller must repeat the step. */
  isPending: boolean;
}

export interface ErasurePreview {
  /** Number of messages that are not erased yet. */
  messages: number;
  /** Number of attempts whose excerpts would be erased. */
  attempts: number;
  /** True if there may be more: counting stopped before the oldest message. */
  isCapped: boolean;
}

/** Erases what another module stores of an event. Does nothing if it stores nothing. Safe to repeat. */
export type EraseContent = (environmentId: number, eventId: Id) => Promise<void>;
