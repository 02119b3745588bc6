import type { Id } from '#kernel/ids.js';

/** Messages of an application to erase, as a range of ids. The end of the range is exclusive. */
export interface ErasureRange {
  environmentId: number;
  applicationId: Id;
  fromId: Id;
  beforeId: Id;
}

/** The result of one step of an erasure. */
export interface ErasedStretch {
  /** Number of messages scanned. */
  scanned: number;
  /** Number of messages erased in this step. */
  messages: number;
  /** Number of attempts whose excerpts were erased in this step. */
  attempts: number;
  /** The oldest message of this step; null if there was none. */
  lastId: Id | null;
  /** True if an attempt was in flight, whose response would still be stored. The caller must repeat the step. */
  isPending: boolean;
}

/** Counts of what an erasure would remove. */
export interface ErasurePreview {
  /** Number of messages that are not erased yet. */
  messages: number;
  /** Number of attempts whose excerpts would be erased. */
  attempts: number;
  /** True if there may be more: counting stopped before the oldest message. */
  isCapped: boolean;
}

/** Erasure of everything that was sent to an application. */
export abstract class ApplicationErasures {
  /** Returns true if messages to the application are still stored. */
  abstract hasMessages(environmentId: number, applicationId: Id): Promise<boolean>;

  /**
   * Erases the newest messages of the range: their content, their waiting deliveries, and the receivers' responses.
   * Safe to repeat.
   */
  abstract eraseNewest(range: ErasureRange): Promise<ErasedStretch>;

  /**
   * Counts what `eraseNewest` would erase in the range, newest first, scanning a bounded number of messages and events.
   * Changes nothing.
   */
  abstract preview(range: ErasureRange): Promise<ErasurePreview>;

  /** Returns the number of waiting deliveries for the given endpoints. */
  abstract waiting(environmentId: number, endpointIds: readonly Id[]): Promise<number>;

  /** Returns the number of messages in the range, counting up to `max`. */
  abstract count(range: ErasureRange, max: number): Promise<number>;
}

/** Erased payloads. */
export abstract class Erasures {
  /** Returns when the payload of an event was erased, or null. */
  abstract erasedAt(environmentId: number, id: Id): Promise<Date | null>;
}

/**
 * Erases the content of an event that another context stores. Does nothing if the context stores nothing of the event.
 * Safe to repeat.
 */
export type EraseContent = (environmentId: number, eventId: Id) => Promise<void>;

/**
 * Registry of content that must be erased together with a payload. Contexts that store content of events outside the
 * ledger register here.
 */
export abstract class ErasedContents {
  abstract attach(erase: EraseContent): void;
}
