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
