import type { FactKind } from '#engine/mail/recipient-state.js';
import type { Id } from '#kernel/ids.js';

/** A delivery event for one recipient, from an SMTP reply, a report or a provider's notification. */
export interface EmailFact {
  /** The address as written in the email. Addresses are compared regardless of case and of the form of the domain. */
  address: string;
  kind: FactKind;
  /** Kind of bounce, complaint or rejection, as named by the source, such as `permanent`, `5.1.1` or `abuse`. */
  subtype: string | null;
  /** Text of the report, sanitized, at most 1 KB. */
  detail: string | null;
  /** For a bounce: true if the address is permanently rejected and must be suppressed. */
  isPermanent: boolean;
}

export interface IncomingReport {
  /**
   * Environment that the signed return path contains (`ReturnPaths`). Null for mail to one of the operator's addresses.
   */
  environmentId: number | null;
  /** Null if `environmentId` is null. */
  emailId: Id | null;
  /** Address in RCPT TO. */
  recipient: string;
  /** Address in MAIL FROM. Empty for the null sender, which bounce reports use. */
  envelopeFrom: string;
  receivedFrom: string;
}

/**
 * Accepts mail to Posthorn's return paths and to the operator's addresses, such as bounces, delay reports and
 * complaints.
 */
export abstract class IncomingReports {
  /** Maximum size of a report. The receiving side must reject larger reports with 552 5.3.4. */
  static readonly BYTES_MAX = 1_048_576;

  /**
   * Stores a report, and resolves once the report is committed. `raw` is the received message, at most `BYTES_MAX`. A
   * report is stored only once, even if the sender misses the reply and sends it again. Throws 503 while storage is
   * unavailable or too many reports are waiting.
   */
  abstract accept(report: IncomingReport, raw: Buffer): Promise<void>;
}

export interface NamedEmail {
  environmentId: number;
  emailId: Id;
  /**
   * Indexes of the recipients in the list that `SentEmails.recipientsOf` returns. Null for return paths of older
   * versions, which contain no recipients.
   */
  places: readonly number[] | null;
}

/** The body of `POST /v1/emails`. */
export interface EmailContent {
  /** The sender: one mailbox, optionally with a display name. Required unless the template specifies a sender. */
  from?: string;
  to: string | string[];
  cc?: string | string[];
  bcc?: string | string[];
  reply_to?: string | string[];
  /** Required unless the template specifies a subject. */
  subject?: string;
  html?: string;
  text?: string;
  headers?: Record<string, string>;
  attachments?: EmailAttachmentContent[];
  tags?: { name: string; value: string }[];
  /** Id or alias of a published template that provides the content, and the values of the template's variables. */
  template?: { id: string; variables?: Record<string, unknown> };
  /** Time at which to send the email: RFC 3339, or a duration such as `in 5 minutes`. */
  scheduled_at?: string;
  /** Adds an unsubscribe link: from all emails if true, or from the topic with the given id or key. */
  unsubscribe?: boolean | { topic: string };
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
  /** Id of the email in the form `evt_…`. */
  id: string;
  status: 'sending' | 'scheduled' | 'suppressed';
}
