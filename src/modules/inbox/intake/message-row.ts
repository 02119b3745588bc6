import type { Id } from '#kernel/ids.js';

/** `received` waits for the pipeline. With a `reason` it will be `quarantined`, but is parsed all the same. */
export type MessageState = 'received' | 'processed' | 'quarantined';

/** Reason for a quarantine decided on acceptance, because other aliases of the same message accepted it. */
export type DoorReason = 'sender_not_allowed' | 'too_large';

/**
 * Row of `inbox_messages`; its id is also its event's (`evt_…`). The bytes are in `raw` if at most 256 KB, otherwise in
 * the blob with this id. If both are missing, the message was erased.
 */
export interface NewMessage {
  environmentId: number;
  id: Id;
  /** Days since the epoch. */
  expiresOnDay: number;
  aliasId: Id;
  reason: DoorReason | null;
  /** Empty for the null sender. */
  envelopeFrom: string;
  /** Envelope recipients that led to this alias. */
  envelopeTo: readonly string[];
  clientIp: string;
  helo: string;
  tls: string | null;
  sizeBytes: number;
  sha256: Buffer;
  raw: Buffer | null;
  /** Message-ID header, unfolded and sanitized, at most 998 characters. Null if there is none. */
  messageId: string | null;
}
