import type { PageQuery } from '#kernel/cursors.js';
import type { Id } from '#kernel/ids.js';
import type { Tenant } from '#kernel/tenant.js';

/** A message in a list. */
export interface SentMessage {
  id: Id;
  eventType: string;
  channels: string[];
  fanout: number;
  payloadBytes: number;
  acceptedAt: Date;
}

/** A message with what it said. */
export interface MessageContent extends SentMessage {
  applicationId: Id;
  headers: Record<string, string> | null;
  /** In its very characters; null when it was erased, or is over `PAYLOAD_SHOWN_BYTES_MAX`. */
  payload: string | null;
  erasedAt: Date | null;
}

/** A larger payload is left out where others stand, which says so; it is read by itself. */
export const PAYLOAD_SHOWN_BYTES_MAX = 256 * 1024;

/** What was sent to applications. */
export abstract class Messages {
  /** Null when there is none in this environment. */
  abstract find(tenant: Tenant, id: Id): Promise<MessageContent | null>;

  /** Of one application, newest first. Throws 400 for a bad cursor. */
  abstract page(
    tenant: Tenant,
    applicationId: Id,
    query: PageQuery,
  ): Promise<{ messages: SentMessage[]; nextCursor: string | null }>;
}
