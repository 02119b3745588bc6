import { createHash } from 'node:crypto';
import { headOf } from '#engine/mail/message-head.js';
import type { Id } from '#kernel/ids.js';

/** A reply to an SMTP client, such as `550 5.1.1 No such mailbox.` (RFC 5321, section 4.2; RFC 3463). */
export interface SmtpAnswer {
  code: number;
  enhanced: string;
  text: string;
}

/** An alias that accepts a recipient's mail. */
export interface AliasRoute {
  environmentId: number;
  aliasId: Id;
  /**
   * Maximum size of a message in bytes. Larger messages are rejected with 552 5.3.4. Null for the limit of the
   * listener.
   */
  maxSizeBytes: number | null;
  /** Patterns `a@d`, `@d` or `*.d`. An empty list accepts every sender. */
  allowedSenders: readonly string[];
}

/**
 * Result for one recipient: mail for an alias, a report about mail that Posthorn sent, or a rejection with its reply.
 */
export type RecipientVerdict =
  | { kind: 'alias'; route: AliasRoute }
  | { kind: 'report'; report: { environmentId: number | null; emailId: Id | null } }
  | { kind: 'refused'; answer: SmtpAnswer };

/** A recipient that was not rejected, with the address as the client gave it. */
export type AcceptedRecipient = Exclude<RecipientVerdict, { kind: 'refused' }> & { address: string };

/** Envelope and connection data of a message, from the SMTP conversation. */
export interface MailEnvelope {
  /** Address of MAIL FROM. Empty for the null sender. */
  from: string;
  /** At least one recipient. */
  recipients: readonly AcceptedRecipient[];
  clientIp: string;
  /** Name that the client gave in HELO or EHLO. */
  helo: string;
  /** Protocol and cipher (`TLSv1.3 TLS_AES_256_GCM_SHA384`). Null for plain text. */
  tls: string | null;
}

/**
 * Maximum size of a message that is kept in memory while it arrives, and stored in its row. Larger ones are stored
 * separately.
 */
export const WHOLE_BYTES_MAX = 256 * 1024;

/** The bytes of a received message: in memory if small, otherwise in a temporary file. */
export interface IncomingBytes {
  sizeBytes: number;
  /** SHA-256 of the whole message. */
  sha256: Buffer;
  /** The header section, or its first 256 KB. */
  head: Buffer;
  /** The whole message if it has at most 256 KB, otherwise null. */
  whole: Buffer | null;
  /** Returns the whole message in chunks. May be called repeatedly until `accept` resolves. */
  read(): AsyncIterable<Buffer>;
}

/** Wraps a message that is already in memory. */
export function incomingBytes(raw: Buffer): IncomingBytes {
  return {
    sizeBytes: raw.length,
    sha256: createHash('sha256').update(raw).digest(),
    head: headOf(raw),
    whole: raw.length > WHOLE_BYTES_MAX ? null : raw,
    async *read() {
      yield raw;
    },
  };
}

/** Accepts incoming mail, from the SMTP listener and from the `capture:` transport. */
export abstract class IncomingMail {
  /**
   * Decides about one recipient at RCPT.
   *
   * `declaredBytes` is the size that the client declared (SIZE=), or 0 if it declared none. Returns 451 4.3.0 while
   * storage is unavailable. Never throws. A change of aliases or domains takes effect within five seconds.
   */
  abstract recipient(address: string, declaredBytes: number): Promise<RecipientVerdict>;

  /**
   * Resolves with true when the client may send one more message: at once, unless deliveries need the process. Resolves
   * with false on a timeout.
   */
  abstract turn(): Promise<boolean>;

  /**
   * Accepts a message. Never throws.
   *
   * A 250 reply means that the message is committed, or that it is a duplicate: same alias, sender and bytes within 24
   * hours, with a Message-ID. After any other reply nothing is stored. The exception is a lost connection to storage
   * during the commit: everything may be stored then, and deduplication recognises a retry.
   */
  abstract accept(envelope: MailEnvelope, bytes: IncomingBytes): Promise<SmtpAnswer>;

  /** Resolves when no message is waiting for its commit. */
  abstract drained(): Promise<void>;
}

/**
 * Notifies the mail pipeline of this process of new messages. It finds messages that other processes received by
 * polling.
 */
export abstract class MailArrivals {
  /** Registers a listener that runs after each commit of messages. */
  abstract onArrival(listener: () => void): void;
}
