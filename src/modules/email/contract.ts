import type { FactKind } from '#engine/mail/recipient-state.js';
import type { Id } from '#kernel/ids.js';

/** A delivery event of one recipient, from an SMTP reply, a report or a provider's notification. */
export interface EmailFact {
  /** The address as it appears in the email. Case and the form of the domain do not matter. */
  address: string;
  kind: FactKind;
  /** Kind of bounce, complaint or refusal, in the source's own term: `permanent`, `5.1.1`, `abuse`. */
  subtype: string | null;
  /** Text of the report, sanitized, at most 1 KB. */
  detail: string | null;
  /** For a bounce: true if the address is permanently rejected and must be suppressed. */
  isPermanent: boolean;
}

export interface IncomingReport {
  /** From the signed return path (`ReturnAddresses`). Null for mail to one of the operator's addresses. */
  environmentId: number | null;
  /** Null if `environmentId` is null. */
  emailId: Id | null;
  /** Address in RCPT TO. */
  recipient: string;
  /** Address in MAIL FROM. Empty for the null sender, which reports use. */
  envelopeFrom: string;
  receivedFrom: string;
}

/** Reports about mail that Posthorn sent: bounces, delays, complaints, and any other mail to the report addresses. */
export abstract class IncomingReports {
  /** Maximum size of a report. The receiving side must reject larger reports with 552 5.3.4. */
  static readonly BYTES_MAX = 1_048_576;

  /**
   * Stores a report, which is committed when this resolves. `raw` is the received message, at most `BYTES_MAX`. A
   * repeated report (the sender did not receive the reply) is stored once. Throws while storage is unavailable.
   */
  abstract accept(report: IncomingReport, raw: Buffer): Promise<void>;
}

export interface NamedEmail {
  environmentId: number;
  emailId: Id;
  /** Positions in the result of `SentEmails.recipientsOf`. Null for a return path of an older build. */
  places: readonly number[] | null;
}

/** The body of `POST /v1/emails`. */
export interface EmailContent {
  /** The sender: one mailbox, optionally with a display name. */
  from: string;
  to: string | string[];
  cc?: string | string[];
  bcc?: string | string[];
  reply_to?: string | string[];
  subject: string;
  html?: string;
  text?: string;
  headers?: Record<string, string>;
  attachments?: EmailAttachmentContent[];
  tags?: { name: string; value: string }[];
  /** RFC 3339, or a duration such as `in 5 minutes`. */
  scheduled_at?: string;
}

/** An attachment: either its bytes in `content`, or the `url` to fetch them from. */
export interface EmailAttachmentContent {
  filename?: string;
  content_type?: string;
  /** The bytes in base64. */
  content?: string;
  url?: string;
  content_id?: string;
}

export interface AcceptedEmailAnswer {
  /** `evt_…` */
  id: string;
  status: 'sending' | 'scheduled' | 'suppressed';
}
