/** A message as it leaves: the same bytes on every attempt. */
export interface Submission {
  /** `evt_…`, for logs and the transport's own correlation. */
  emailId: string;
  /** The composed, signed message. */
  raw: Buffer;
  /** The return path of the envelope that goes to these of the recipients; empty for none. A report that comes to it is believed of them alone. */
  mailFrom: (recipients: readonly string[]) => string;
  /** Recipients that are still open, in A-labels. */
  recipients: readonly string[];
}

/** What a server said of one recipient. */
export interface RecipientReply {
  address: string;
  /**
   * `accepted`: handed over. `bounced`: the address is refused for good. `failed`: the message, its sender or a policy is
   * refused for good, which says nothing of the address. `deferred`: may be tried again.
   */
  outcome: 'accepted' | 'bounced' | 'failed' | 'deferred';
  /** The SMTP code, or 0 when there was no answer. */
  code: number;
  /** The enhanced status code of RFC 3463, such as `5.1.1`, or null. */
  enhanced: string | null;
  /** What was said, cleaned and at most 1 KB. */
  text: string;
}

/** What came of handing a message over. */
export interface SubmissionReport {
  /** One for each recipient. */
  replies: readonly RecipientReply[];
  /** True when nobody could be asked (no connection, no login): the transport is broken, not the message. */
  isUnreachable: boolean;
  /** True when whoever accepted is the last to know: accepted means delivered. */
  isFinal: boolean;
  /** Milliseconds to wait at least before the next attempt, when the server asked for it. */
  retryAfterMs: number | null;
  /** What a provider that took it calls the message: its notifications name it so. */
  providerMessageId?: string;
}

/** How mail leaves the install (`EMAIL_TRANSPORT`). */
export abstract class MailTransport {
  /** The longest that `submit` takes, in milliseconds. */
  get submitMsMax(): number {
    return 60_000;
  }

  /** Hands over. Never throws; bounded in time by itself (`submitMsMax`). */
  abstract submit(submission: Submission): Promise<SubmissionReport>;

  /** Whether Message-ID and Date are set anew on the way: a signature over them would not hold then. */
  get rewritesIdentity(): boolean {
    return false;
  }
}
