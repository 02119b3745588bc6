import type { PageQuery } from '#kernel/cursors.js';
import type { Id } from '#kernel/ids.js';
import type { Tenant } from '#kernel/tenant.js';

export interface SentMessage {
  id: Id;
  eventType: string;
  channels: string[];
  fanout: number;
  payloadBytes: number;
  acceptedAt: Date;
}

export interface MessageContent extends SentMessage {
  applicationId: Id;
  headers: Record<string, string> | null;
  /** The exact payload text; null if it was erased or is larger than `PAYLOAD_SHOWN_BYTES_MAX`. */
  payload: string | null;
  erasedAt: Date | null;
}

/** Maximum size in event details. A larger payload is marked as truncated there and must be fetched separately. */
export const PAYLOAD_SHOWN_BYTES_MAX = 256 * 1024;

export abstract class Messages {
  /** Returns null if the environment has no such message. */
  abstract find(tenant: Tenant, id: Id): Promise<MessageContent | null>;

  /** Newest first. Throws 400 for an invalid cursor. */
  abstract page(
    tenant: Tenant,
    applicationId: Id,
    query: PageQuery,
  ): Promise<{ messages: SentMessage[]; nextCursor: string | null }>;
}
