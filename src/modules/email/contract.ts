import type { FactKind } from '#engine/mail/recipient-state.js';
import type { Id } from '#kernel/ids.js';

/** What became known of one recipient of an email: from an SMTP answer, a report, or a provider's notification. */
export interface EmailFact {
  /** As it stands in the email; in any case, and with its domain in any form. */
  address: string;
  kind: FactKind;
  /** What kind of bounce, complaint or refusal, in a word of the source: `permanent`, `5.1.1`, `abuse`. */
  subtype: string | null;
  /** What was said, cleaned, at most 1 KB. */
  detail: string | null;
  /** Of a bounce: whether the address is refused for good, and is not sent to again. */
  isPermanent: boolean;
}

/**
 * What became of emails. One door for everybody who learns something: the attempt itself, reports of bounces and
 * complaints, providers. Facts may come in any order, and more than once.
 */
export abstract class EmailFacts {
  /**
   * Notes facts of one email: its recipients' states, the timeline, what is suppressed from now on, the system's events, and
   * the status of its event. Committed when it resolves. What is told of a stranger, of an email that is gone or of none is
   * passed over. Throws while storage is away.
   */
  abstract record(environmentId: number, emailId: Id, facts: readonly EmailFact[]): Promise<void>;
}

/** Mail that came to an address that only reports go to, as the listener took it. */
export interface IncomingReport {
  /** The environment of the email that the signed return path names (`ReturnAddresses`); null for mail to an address of the operator's. */
  environmentId: number | null;
  /** The email that it names; null together with `environmentId`. */
  emailId: Id | null;
  /** The address it was sent to (RCPT). */
  recipient: string;
  /** The sender that the conversation named (MAIL FROM); empty for the null sender, which reports have. */
  envelopeFrom: string;
  /** The address of the client that brought it. */
  receivedFrom: string;
}

/** Reports about mail of ours: bounces, delays, complaints, and whatever else is sent where they go. */
export abstract class IncomingReports {
  /** Larger ones are refused by whoever takes them, with 552 5.3.4. */
  static readonly BYTES_MAX = 1_048_576;

  /**
   * Keeps a report, whose facts are found later. Committed when it resolves. `raw` is the message as it came, at most
   * `BYTES_MAX`. One that was brought before (the sender heard no answer) is kept once. Throws while storage is away.
   */
  abstract accept(report: IncomingReport, raw: Buffer): Promise<void>;
}

/** Emails as reports ask for them. */
export abstract class SentEmails {
  /** The addresses of an email's recipients, always in the same order; null when it is gone, was erased, or there is none. */
  abstract recipientsOf(environmentId: number, emailId: Id): Promise<readonly string[] | null>;

  /** The message as it leaves; null when it is gone, was erased, or is not composed yet. Throws 503 while storage is away. */
  abstract rawOf(environmentId: number, emailId: Id): Promise<Buffer | null>;

  /** Whose email an id is, over all environments: for what names an email and no environment. Null when there is none. */
  abstract environmentOf(emailId: Id): Promise<number | null>;

  /** The email that a provider took under this id, over all environments; null when there is none. */
  abstract ofProvider(providerMessageId: string): Promise<{ environmentId: number; emailId: Id } | null>;

  /**
   * The `b=` of the DKIM signature that an email left with, without white space: whoever shows it has seen the message, which
   * knowing its Message-ID does not prove. Null when the message is gone.
   */
  abstract signatureOf(environmentId: number, emailId: Id): Promise<string | null>;
}

/** What a return path of ours names. */
export interface NamedEmail {
  environmentId: number;
  emailId: Id;
  /** The places of the recipients that its envelope went to in `SentEmails.recipientsOf`; null for one of before they were named. */
  places: readonly number[] | null;
}

/** The addresses that bounces of our emails go to. */
export abstract class ReturnAddresses {
  /** The email that the local part of a recipient names, which is then `IncomingReports`' business; null for what we never gave out: 550 5.1.1 where it looks like one. */
  abstract read(localPart: string): NamedEmail | null;
  /** Whether a local part is meant to be one: then it belongs to nobody else, and `read` decides. */
  abstract isMeant(localPart: string): boolean;
}
