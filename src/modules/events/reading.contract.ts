import type { Id } from '#kernel/ids.js';
import type { Tenant } from '#kernel/tenant.js';
import type { AttemptRow } from '#modules/ledger/accept.contract.js';

/** Where a list goes on, and how long its page is. */
export interface PageQuery {
  cursor?: string;
  limit?: number;
}

/** What a caller filters attempts by, as given. */
export interface AttemptQuery extends PageQuery {
  /** Answered with 2xx, or not. */
  status?: 'delivered' | 'failed';
  event_type?: string;
  since?: string;
  until?: string;
}

/** An attempt with what it was made for. */
export interface LoggedAttempt extends AttemptRow {
  eventId: Id;
  messageId: Id | null;
  eventType: string;
  replayed: boolean;
  /** Of its delivery, when this is the latest attempt and nothing is under way. */
  nextAttemptAt: Date | null;
}

/** The attempts at one target. */
export abstract class AttemptLog {
  /**
   * Of the events of a destination, an ad-hoc URL or an application's endpoint; the newest event first. Every page looks at a
   * bounded number of events, so that it may be short and not the last. Throws 400 for a bad time or cursor.
   */
  abstract page(tenant: Tenant, targetId: Id, query: AttemptQuery): Promise<{ attempts: LoggedAttempt[]; nextCursor: string | null }>;
}

/** A message in a list. */
export interface SentMessage {
  id: Id;
  eventType: string;
  channels: string[];
  fanout: number;
  payloadBytes: number;
  acceptedAt: Date;
}

/** What was sent to applications. */
export abstract class Messages {
  /** Of one application, newest first. Throws 400 for a bad cursor. */
  abstract page(tenant: Tenant, applicationId: Id, query: PageQuery): Promise<{ messages: SentMessage[]; nextCursor: string | null }>;
}

/** Deliveries that nobody is making at the moment. */
export interface WaitingDeliveries {
  count: number;
  /** True when there are at least `count`: no more are looked at. */
  isCapped: boolean;
  /** When the earliest of those that were tried before is due; null without one. */
  nextAttemptAt: Date | null;
}

/** How much waits. */
export abstract class Waiting {
  /** For a target: what an endpoint sent there, or (null) what came to it by itself. */
  abstract of(environmentId: number, targetId: Id, endpointId: Id | null): Promise<WaitingDeliveries>;
}
