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

/** A message with its content. */
export interface MessageContent extends SentMessage {
  applicationId: Id;
  headers: Record<string, string> | null;
  /** The payload, character for character; null if it was erased or is larger than `PAYLOAD_SHOWN_BYTES_MAX`. */
  payload: string | null;
  erasedAt: Date | null;
}

/**
 * Maximum payload size in bytes that event details include. Larger payloads are marked as truncated and fetched
 * separately.
 */
export const PAYLOAD_SHOWN_BYTES_MAX = 256 * 1024;

/** Messages that were sent to applications. */
export abstract class Messages {
  /** Returns a message, or null if there is none in this environment. */
  abstract find(tenant: Tenant, id: Id): Promise<MessageContent | null>;

  /** Lists the messages of one application, newest first. Throws 400 for an invalid cursor. */
  abstract page(
    tenant: Tenant,
    applicationId: Id,
    query: PageQuery,
  ): Promise<{ messages: SentMessage[]; nextCursor: string | null }>;
}
