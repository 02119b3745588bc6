import type { Id } from '#kernel/ids.js';

/**
 * Processing state of a message. `received` waits for the pipeline. If it also has a `reason`, it will be
 * `quarantined`, but is parsed all the same.
 */
export type MessageState = 'received' | 'processed' | 'quarantined';

/**
 * Reason for a quarantine that was decided on acceptance, because other aliases of the same message accepted it: the
 * sender is not allowed, or the message is too large for this alias.
 */
export type DoorReason = 'sender_not_allowed' | 'too_large';

/**
 * A row of `inbox_messages` as the listener writes it. Its id is also that of its event (`evt_…`). The bytes are in
 * `raw` if they are at most 256 KB, otherwise in the blob with the message's id. If both are missing, the message was
 * erased.
 */
export interface NewMessage {
  environmentId: number;
  id: Id;
  /** Days since the epoch. */
  expiresOnDay: number;
  aliasId: Id;
  reason: DoorReason | null;
  /** Address of MAIL FROM. Empty for the null sender. */
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
