import type { Id } from '#kernel/ids.js';

/**
 * A `received` message waits to be parsed. It then becomes `quarantined` if it has a `reason`, otherwise `processed`.
 */
export type MessageState = 'received' | 'processed' | 'quarantined';

/**
 * Reason to quarantine a message for one of its aliases, which does not allow its sender. The message was not rejected
 * during the SMTP session, because another alias accepts it.
 */
export type DoorReason = 'sender_not_allowed' | 'too_large';

/**
 * Row of `inbox_messages`. The message's event has the same id (`evt_…`). The bytes are stored in `raw` if there are at
 * most 256 KB, otherwise in a blob with the message's id. If both are missing, the message was erased.
 */
export interface NewMessage {
  environmentId: number;
  id: Id;
  /** Expiry day, as days since the epoch. */
  expiresOnDay: number;
  aliasId: Id;
  reason: DoorReason | null;
  /** Address of MAIL FROM. Empty for the null sender. */
  envelopeFrom: string;
  /** Envelope recipients whose mail this alias receives. */
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
