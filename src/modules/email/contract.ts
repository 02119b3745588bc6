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

/**
 * The single entry point for delivery events of all sources: attempts, bounce and complaint reports, providers. Events
 * may arrive in any order and more than once.
 */
export abstract class EmailFacts {
  /**
   * Updates the email's recipients, timeline, suppressions, system events, and the status of its event. Committed when
   * it resolves. Ignores addresses that are not recipients, and emails that do not exist any more. Throws while storage
   * is unavailable.
   */
  abstract record(environmentId: number, emailId: Id, facts: readonly EmailFact[]): Promise<void>;
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
  /** Maximum size of a report. The receiving side must reject larger ones with 552 5.3.4. */
  static readonly BYTES_MAX = 1_048_576;

  /**
   * Stores a report, which is committed when this resolves. `raw` is the received message, at most `BYTES_MAX`. A
   * repeated report (the sender did not receive the reply) is stored once. Throws while storage is unavailable.
   */
  abstract accept(report: IncomingReport, raw: Buffer): Promise<void>;
}

export abstract class SentEmails {
  /** Returns addresses in a stable order. Null if the email was erased or does not exist (any more). */
  abstract recipientsOf(environmentId: number, emailId: Id): Promise<readonly string[] | null>;

  /** Returns null if the message was erased, is not composed yet, or no longer exists. Throws 503 during an outage. */
  abstract rawOf(environmentId: number, emailId: Id): Promise<Buffer | null>;

  /** Searches all environments, for sources that give an email's id but no environment. */
  abstract environmentOf(emailId: Id): Promise<number | null>;

  /** Searches all environments for the email that a provider accepted under this id. */
  abstract ofProvider(providerMessageId: string): Promise<{ environmentId: number; emailId: Id } | null>;

  /**
   * Returns the `b=` value of the DKIM signature without white space, or null if the message no longer exists. A report
   * with this value proves that its sender has seen the message. Knowing the Message-ID proves nothing.
   */
  abstract signatureOf(environmentId: number, emailId: Id): Promise<string | null>;
}

export interface NamedEmail {
  environmentId: number;
  emailId: Id;
  /** Positions in `SentEmails.recipientsOf`. Null for a return path of an older build, which contains no positions. */
  places: readonly number[] | null;
}

/** Return paths: the addresses that receive the bounces of sent emails. */
export abstract class ReturnAddresses {
  /**
   * Returns the email that the return path belongs to. Null for an address that Posthorn did not issue. If `isMeant` is
   * true for such an address, reject it with 550 5.1.1.
   */
  abstract read(localPart: string): NamedEmail | null;
  /** True if the address has the reserved form of a return path. `read` decides whether it is valid. */
  abstract isMeant(localPart: string): boolean;
}
