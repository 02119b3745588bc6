import type { Id } from '#kernel/ids.js';

/**
 * Where a message stands. `received` waits for the pipeline: with a `reason` it was decided at the door that it will be
 * `quarantined`, and it is parsed all the same.
 */
export type MessageState = 'received' | 'processed' | 'quarantined';

/**
 * Decided at the door, where others of the same message's aliases took it: its one sender is not allowed, or it is too
 * large for this alias.
 */
export type DoorReason = 'sender_not_allowed' | 'too_large';

/**
 * A row of `inbox_messages` as the listener writes it. Its id is that of its event too (`evt_…`). The bytes stand in
 * `raw` when they are at most 256 KB, and are otherwise the blob with the message's id; both gone means erased.
 */
export interface NewMessage {
  environmentId: number;
  id: Id;
  /** In days since the epoch. */
  expiresOnDay: number;
  aliasId: Id;
  reason: DoorReason | null;
  /** MAIL FROM; empty for the null sender. */
  envelopeFrom: string;
  /** The recipients of the conversation that led to this alias. */
  envelopeTo: readonly string[];
  clientIp: string;
  helo: string;
  tls: string | null;
  sizeBytes: number;
  sha256: Buffer;
  raw: Buffer | null;
  /** The Message-ID header, unfolded and cleaned, at most 998 characters; null without one. */
  messageId: string | null;
}
