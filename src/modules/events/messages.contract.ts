import type { Id } from '#kernel/ids.js';

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

/** Maximum payload size in event details. A larger payload is marked as truncated and must be fetched separately. */
export const PAYLOAD_SHOWN_BYTES_MAX = 256 * 1024;
