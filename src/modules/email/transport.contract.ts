/** A message as it is sent: the same bytes on every attempt. */
export interface Submission {
  /** `evt_…`, for logs and for the transport's own correlation. */
  emailId: string;
  /** The composed, signed message. */
  raw: Buffer;
  /**
   * Returns the return path for an envelope to these recipients; empty for none. Reports sent to this path are accepted
   * only for these recipients.
   */
  mailFrom: (recipients: readonly string[]) => string;
  /** Recipients without a final outcome, with domains in A-label form. */
  recipients: readonly string[];
}

/** A server's reply for one recipient. */
export interface RecipientReply {
  address: string;
  /**
   * `accepted`: handed over. `bounced`: the address is permanently refused. `failed`: the message, its sender or a
   * policy caused a permanent refusal that says nothing about the address. `deferred`: can be retried.
   */
  outcome: 'accepted' | 'bounced' | 'failed' | 'deferred';
  /** SMTP reply code, or 0 if there was no reply. */
  code: number;
  /** Enhanced status code of RFC 3463, such as `5.1.1`, or null. */
  enhanced: string | null;
  /** Text of the reply, sanitized, at most 1 KB. */
  text: string;
}

/** The result of handing a message over. */
export interface SubmissionReport {
  /** One reply for each recipient. */
  replies: readonly RecipientReply[];
  /** True if the server could not be reached (no connection, no login): the transport failed, not the message. */
  isUnreachable: boolean;
  /** True if the accepting server is the last source of status: accepted then means delivered. */
  isFinal: boolean;
  /** Minimum number of milliseconds before the next attempt, if the server asked for a delay. */
  retryAfterMs: number | null;
  /** The id that the provider gave to the message. The provider's notifications refer to it. */
  providerMessageId?: string;
}

/** Transport for outgoing mail (`EMAIL_TRANSPORT`). */
export abstract class MailTransport {
  /** Maximum duration of `submit` in milliseconds. */
  get submitMsMax(): number {
    return 60_000;
  }

  /** Hands a message over. Never throws, and enforces its own time limit (`submitMsMax`). */
  abstract submit(submission: Submission): Promise<SubmissionReport>;

  /** True if the provider replaces Message-ID and Date. A signature that covers them would then break. */
  get rewritesIdentity(): boolean {
    return false;
  }
}
