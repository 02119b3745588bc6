import type { Id } from '#kernel/ids.js';

/** Messages of an application to erase: from one id to before another. */
export interface ErasureRange {
  environmentId: number;
  applicationId: Id;
  fromId: Id;
  beforeId: Id;
}

/** What a stretch of an erasure came to. */
export interface ErasedStretch {
  /** Messages that were looked at. */
  scanned: number;
  /** Messages that were erased now. */
  messages: number;
  /** Attempts whose excerpts were erased now. */
  attempts: number;
  /** The oldest message of the stretch; null when there was none. */
  lastId: Id | null;
  /** An attempt is under way, and what it learns would be kept: the stretch has to be repeated. */
  isPending: boolean;
}

/** The counts of what an erasure would remove. */
export interface ErasurePreview {
  /** Messages that are not erased yet. */
  messages: number;
  /** Attempts whose excerpts would be erased. */
  attempts: number;
  /** True where there may be more: looking ended before the oldest message. */
  isCapped: boolean;
}

/** Erasing everything that an application was sent. */
export abstract class ApplicationErasures {
  /** Whether anything was sent to it that is still kept. */
  abstract hasMessages(environmentId: number, applicationId: Id): Promise<boolean>;

  /** The newest messages of the range: their content, what waits of them, and what receivers answered. Safe to repeat. */
  abstract eraseNewest(range: ErasureRange): Promise<ErasedStretch>;

  /** Counts what `eraseNewest` would erase of the range, newest first and among a bounded number of messages and events. Changes nothing. */
  abstract preview(range: ErasureRange): Promise<ErasurePreview>;

  /** How many deliveries wait for some endpoints. */
  abstract waiting(environmentId: number, endpointIds: readonly Id[]): Promise<number>;

  /** How many messages there are; counts up to `max`. */
  abstract count(range: ErasureRange, max: number): Promise<number>;
}

/** Payloads that are gone for good. */
export abstract class Erasures {
  /** When the payload of an event was erased, or null. */
  abstract erasedAt(environmentId: number, id: Id): Promise<Date | null>;
}

/** Erases what another context keeps of an event; nothing happens for an event that it has nothing of. Safe to repeat. */
export type EraseContent = (environmentId: number, eventId: Id) => Promise<void>;

/** What else is gone with a payload; connected by the contexts that keep content of events beside the ledger. */
export abstract class ErasedContents {
  abstract attach(erase: EraseContent): void;
}
