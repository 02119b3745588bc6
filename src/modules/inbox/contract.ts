import { createHash } from 'node:crypto';
import { headOf } from '#engine/mail/message-head.js';
import type { Id } from '#kernel/ids.js';

/** A reply to an SMTP client, such as `550 5.1.1 No such mailbox.` (RFC 5321, section 4.2; RFC 3463). */
export interface SmtpAnswer {
  code: number;
  enhanced: string;
  text: string;
}

export interface AliasRoute {
  environmentId: number;
  aliasId: Id;
  /**
   * Maximum message size. Larger messages are rejected with 552 5.3.4. Null if only the listener's own limit applies.
   */
  maxSizeBytes: number | null;
  /** Sender patterns `a@d`, `@d` or `*.d`. An empty list accepts every sender. */
  allowedSenders: readonly string[];
}

/** Result of RCPT: an alias, an address for reports about mail that Posthorn sent, or a rejection with its reply. */
export type RecipientVerdict =
  | { kind: 'alias'; route: AliasRoute }
  | { kind: 'report'; report: { environmentId: number | null; emailId: Id | null } }
  | { kind: 'refused'; answer: SmtpAnswer };

/** An accepted recipient, with the address as the client gave it. */
export type AcceptedRecipient = Exclude<RecipientVerdict, { kind: 'refused' }> & { address: string };

export interface MailEnvelope {
  /** Address of MAIL FROM. Empty for the null sender. */
  from: string;
  /** Accepted recipients, at least one. */
  recipients: readonly AcceptedRecipient[];
  clientIp: string;
  helo: string;
  /** TLS protocol and cipher (`TLSv1.3 TLS_AES_256_GCM_SHA384`). Null for an unencrypted connection. */
  tls: string | null;
}

/** Maximum size of a message that is kept in memory and stored in its row. Larger messages are stored separately. */
export const WHOLE_BYTES_MAX = 256 * 1024;

/** The bytes of a received message: in memory if small, otherwise in a temporary file. */
export interface IncomingBytes {
  sizeBytes: number;
  sha256: Buffer;
  /** The header section, or its first 256 KB. */
  head: Buffer;
  /** The whole message if it has at most 256 KB, otherwise null. */
  whole: Buffer | null;
  /** Returns the whole message in chunks. May be called repeatedly until `accept` resolves. */
  read(): AsyncIterable<Buffer>;
}

/**
 * The bytes of a message in memory. Computes the hash and the header section on first use. A class, because V8 gives
 * each object literal with getters a hidden class of its own, which only a full garbage collection removes.
 */
class BytesInMemory implements IncomingBytes {
  readonly sizeBytes: number;
  readonly whole: Buffer | null;
  private hash: Buffer | null = null;
  private headSection: Buffer | null = null;

  constructor(private readonly raw: Buffer) {
    this.sizeBytes = raw.length;
    this.whole = raw.length > WHOLE_BYTES_MAX ? null : raw;
  }

  get sha256(): Buffer {
    return (this.hash ??= createHash('sha256').update(this.raw).digest());
  }

  get head(): Buffer {
    return (this.headSection ??= headOf(this.raw));
  }

  async *read(): AsyncGenerator<Buffer> {
    yield this.raw;
  }
}

/** Returns the bytes of a message in memory. */
export function incomingBytes(raw: Buffer): IncomingBytes {
  return new BytesInMemory(raw);
}

/** Accepts incoming mail, from the SMTP listener and from the `capture:` transport. */
export abstract class IncomingMail {
  /**
   * Decides whether to accept one recipient of an RCPT command. `declaredBytes` is the SIZE= parameter, or 0. Returns
   * 451 4.3.0 while storage is unavailable. Never throws. Changes to aliases or domains take effect within five
   * seconds.
   */
  abstract recipient(address: string, declaredBytes: number): Promise<RecipientVerdict>;

  /**
   * Waits until a client may send a message. Resolves to false on timeout. Clients wait while deliveries need the CPU.
   */
  abstract turn(): Promise<boolean>;

  /**
   * Stores a message and returns the SMTP reply. Never throws. The reply is 250 if the message is committed, or if it
   * is a duplicate: a message of the last 24 hours has the same alias, sender, Message-ID and bytes. After any other
   * reply, nothing is stored, with one exception: if the connection to storage breaks during the commit, the message
   * may be stored. The client's retry is then recognized as a duplicate.
   */
  abstract accept(envelope: MailEnvelope, bytes: IncomingBytes): Promise<SmtpAnswer>;

  /** Resolves when no message is waiting for its commit. */
  abstract drained(): Promise<void>;
}
