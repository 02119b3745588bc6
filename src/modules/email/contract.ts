import type { FactKind } from '#engine/mail/recipient-state.js';
import type { Id } from '#kernel/ids.js';

/** A delivery event of one recipient of an email, reported by an SMTP reply, a report or a provider's notification. */
export interface EmailFact {
  /** The address as it appears in the email. Case and the form of the domain do not matter. */
  address: string;
  kind: FactKind;
  /** Kind of bounce, complaint or refusal, in the source's own term: `permanent`, `5.1.1`, `abuse`. */
  subtype: string | null;
  /** Text of the report, sanitized, at most 1 KB. */
  detail: string | null;
  /** For a bounce: true if the address is permanently refused, so that it is suppressed. */
  isPermanent: boolean;
}

/**
 * Applies delivery events to emails. The single entry point for all sources: attempts, reports of bounces and
 * complaints, providers. Delivery events may arrive in any order and more than once.
 */
export abstract class EmailFacts {
  /**
   * Records delivery events of one email: updates its recipients, timeline, suppressions, system events, and the status
   * of its event. Committed when it resolves. Ignores addresses that are not recipients, and emails that do not exist
   * any more. Throws while storage is unavailable.
   */
  abstract record(environmentId: number, emailId: Id, facts: readonly EmailFact[]): Promise<void>;
}

/** Mail that the listener received at an address reserved for reports. */
export interface IncomingReport {
  /**
   * The environment of the email that the signed return path names (`ReturnAddresses`); null for mail to one of the
   * operator's addresses.
   */
  environmentId: number | null;
  /** The email that the signed return path names; null together with `environmentId`. */
  emailId: Id | null;
  /** The envelope recipient (RCPT TO). */
  recipient: string;
  /** The envelope sender (MAIL FROM); empty for the null sender, which reports use. */
  envelopeFrom: string;
  /** IP address of the client that delivered the report. */
  receivedFrom: string;
}

/** Reports about mail that Posthorn sent: bounces, delays, complaints, and any other mail to the report addresses. */
export abstract class IncomingReports {
  /** Maximum size of a report. The receiving side must refuse larger ones with 552 5.3.4. */
  static readonly BYTES_MAX = 1_048_576;

  /**
   * Stores a report for later processing. Committed when it resolves. `raw` is the received message, at most
   * `BYTES_MAX`. A repeated report (the sender did not receive the reply) is stored once. Throws while storage is
   * unavailable.
   */
  abstract accept(report: IncomingReport, raw: Buffer): Promise<void>;
}

/** Sent emails, as needed to process reports. */
export abstract class SentEmails {
  /**
   * Returns the addresses of an email's recipients in a stable order, or null if the email does not exist any more, was
   * erased, or never existed.
   */
  abstract recipientsOf(environmentId: number, emailId: Id): Promise<readonly string[] | null>;

  /**
   * Returns the message as it is sent, or null if it does not exist any more, was erased, or is not composed yet.
   * Throws 503 while storage is unavailable.
   */
  abstract rawOf(environmentId: number, emailId: Id): Promise<Buffer | null>;

  /**
   * Returns the environment of an email, or null if there is no such email. Searches all environments, for sources that
   * name an email but no environment.
   */
  abstract environmentOf(emailId: Id): Promise<number | null>;

  /** Returns the email that a provider accepted under this id, searching all environments, or null if there is none. */
  abstract ofProvider(providerMessageId: string): Promise<{ environmentId: number; emailId: Id } | null>;

  /**
   * Returns the `b=` value of the email's DKIM signature without white space, or null if the message does not exist any
   * more. A report that contains the value proves that its sender has seen the message; knowing the Message-ID does
   * not.
   */
  abstract signatureOf(environmentId: number, emailId: Id): Promise<string | null>;
}

/** The email that a return path of Posthorn names. */
export interface NamedEmail {
  environmentId: number;
  emailId: Id;
  /**
   * Positions of the envelope's recipients in `SentEmails.recipientsOf`; null for a return path of an older build,
   * which does not contain them.
   */
  places: readonly number[] | null;
}

/** Return paths: the addresses that receive the bounces of sent emails. */
export abstract class ReturnAddresses {
  /**
   * Returns the email that a recipient's local part names; pass its mail to `IncomingReports`. Returns null for an
   * address that Posthorn did not issue; if it looks like a return path, refuse it with 550 5.1.1.
   */
  abstract read(localPart: string): NamedEmail | null;
  /**
   * Returns true if a local part has the form of a return path. Such an address is never used for anything else, and
   * `read` decides whether it is valid.
   */
  abstract isMeant(localPart: string): boolean;
}
