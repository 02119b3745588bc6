import { createHash } from 'node:crypto';
import { headOf } from '#engine/mail/message-head.js';
import type { Id } from '#kernel/ids.js';

/** What an SMTP client is told: `550 5.1.1 No such mailbox.` (RFC 5321, section 4.2; RFC 3463). */
export interface SmtpAnswer {
  code: number;
  enhanced: string;
  text: string;
}

/** An alias that takes a recipient's mail. */
export interface AliasRoute {
  environmentId: number;
  aliasId: Id;
  /** More is refused with 552 5.3.4; null for what the listener takes at most. */
  maxSizeBytes: number | null;
  /** `a@d`, `@d` or `*.d`; none admits everybody. */
  allowedSenders: readonly string[];
}

/** What becomes of one recipient: an alias takes it, it is a report about mail of ours, or it is refused with an answer. */
export type RecipientVerdict =
  | { kind: 'alias'; route: AliasRoute }
  | { kind: 'report'; report: { environmentId: number | null; emailId: Id | null } }
  | { kind: 'refused'; answer: SmtpAnswer };

/** A recipient that was not refused, with the address as it was given. */
export type AcceptedRecipient = Exclude<RecipientVerdict, { kind: 'refused' }> & { address: string };

/** How a message came, as the conversation told it. */
export interface MailEnvelope {
  /** MAIL FROM; empty for the null sender. */
  from: string;
  /** At least one. */
  recipients: readonly AcceptedRecipient[];
  clientIp: string;
  /** What the client called itself. */
  helo: string;
  /** Protocol and cipher (`TLSv1.3 TLS_AES_256_GCM_SHA384`); null for plain text. */
  tls: string | null;
}

/** What is larger is not held in memory on its way in, and is stored apart from its row. */
export const WHOLE_BYTES_MAX = 256 * 1024;

/** A message as it came, which is in memory when it is small and in a temporary file when it is not. */
export interface IncomingBytes {
  sizeBytes: number;
  /** SHA-256 of all of it. */
  sha256: Buffer;
  /** The header section, or its first 256 KB. */
  head: Buffer;
  /** All of it when it has at most 256 KB, else null. */
  whole: Buffer | null;
  /** All of it, in chunks; may be called more than once, until `accept` resolves. */
  read(): AsyncIterable<Buffer>;
}

/** A message that is in memory already, as it would have come in. */
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

/** Mail that comes in: the one door for the SMTP listener, and for what the `capture:` transport keeps inside. */
export abstract class IncomingMail {
  /**
   * What becomes of a recipient, asked at RCPT. `declaredBytes` is what the client says that the message will have (SIZE=), 0
   * when it says nothing. Answers 451 4.3.0 while storage is away; never throws. A change of aliases or domains counts within five seconds.
   */
  abstract recipient(address: string, declaredBytes: number): Promise<RecipientVerdict>;

  /** Resolves when a sender may hand over one more message: at once, unless deliveries need the process. False when that took too long. */
  abstract turn(): Promise<boolean>;

  /**
   * Takes a message. An answer of 250 means that it is committed, or that the same message was before (same alias, sender and
   * bytes within 24 hours, with a Message-ID). Every other answer means that nothing of it is there, or all of it where storage
   * went away before it told of the commit: whoever sends it again is recognised. Never throws.
   */
  abstract accept(envelope: MailEnvelope, bytes: IncomingBytes): Promise<SmtpAnswer>;

  /** Resolves when nothing waits for its commit. */
  abstract drained(): Promise<void>;
}

/** Tells the pipeline of this process that something waits; what other processes received it finds by looking. */
export abstract class MailArrivals {
  /** Called after each commit of messages. */
  abstract onArrival(listener: () => void): void;
}
