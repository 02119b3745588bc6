import type { Id } from '#kernel/ids.js';

/** The end of the range of message ids is exclusive. */
export interface ErasureRange {
  environmentId: number;
  applicationId: Id;
  fromId: Id;
  beforeId: Id;
}

export interface ErasedStretch {
  scanned: number;
  messages: number;
  /** Attempts whose excerpts were erased in this step. */
  attempts: number;
  /** The oldest message of this step; null if there was none. */
  lastId: Id | null;
  /** True if an attempt was in flight, whose response would still be stored. The caller must repeat the step. */
  isPending: boolean;
}

export interface ErasurePreview {
  /** Messages that are not erased yet. */
  messages: number;
  /** Attempts whose excerpts would be erased. */
  attempts: number;
  /** True if there may be more: counting stopped before the oldest message. */
  isCapped: boolean;
}

export abstract class ApplicationErasures {
  abstract hasMessages(environmentId: number, applicationId: Id): Promise<boolean>;

  /** Erases messages' content, waiting deliveries, and the receivers' responses. Safe to repeat. */
  abstract eraseNewest(range: ErasureRange): Promise<ErasedStretch>;

  /** What `eraseNewest` would erase, newest first. Scans bounded numbers of messages and events. Changes nothing. */
  abstract preview(range: ErasureRange): Promise<ErasurePreview>;

  abstract waiting(environmentId: number, endpointIds: readonly Id[]): Promise<number>;

  /** Counts up to `max`. */
  abstract count(range: ErasureRange, max: number): Promise<number>;
}

export abstract class Erasures {
  abstract erasedAt(environmentId: number, id: Id): Promise<Date | null>;
}

/** Erases what another context stores of an event. Does nothing if there is none. Safe to repeat. */
export type EraseContent = (environmentId: number, eventId: Id) => Promise<void>;

/** Contexts that store content of events outside the ledger register here, to erase it with the payload. */
export abstract class ErasedContents {
  abstract attach(erase: EraseContent): void;
}
