/** The same bytes on every attempt. */
export interface Submission {
  /** `evt_…`, for logs and for the transport's own correlation. */
  emailId: string;
  raw: Buffer;
  /** Empty for no return path. Reports sent to this path are accepted only for these recipients. */
  mailFrom: (recipients: readonly string[]) => string;
  /** Recipients without a final outcome, with domains in A-label form. */
  recipients: readonly string[];
}

export interface RecipientReply {
  address: string;
  /**
   * `bounced`: the address is permanently refused. `failed`: the message, its sender or a policy caused a permanent
   * refusal that says nothing about the address. `deferred`: can be retried.
   */
  outcome: 'accepted' | 'bounced' | 'failed' | 'deferred';
  /** 0 if there was no reply. */
  code: number;
  /** RFC 3463, such as `5.1.1`. */
  enhanced: string | null;
  /** Sanitized, at most 1 KB. */
  text: string;
}

export interface SubmissionReport {
  replies: readonly RecipientReply[];
  /** True if the server could not be reached (no connection, no login): the transport failed, not the message. */
  isUnreachable: boolean;
  /** True if the accepting server is the last source of status: accepted then means delivered. */
  isFinal: boolean;
  /** Set if the server asked for a delay. */
  retryAfterMs: number | null;
  /** The provider's notifications refer to it. */
  providerMessageId?: string;
}

/** Implements `EMAIL_TRANSPORT`. */
export abstract class MailTransport {
  get submitMsMax(): number {
    return 60_000;
  }

  /** Never throws, and enforces its own time limit (`submitMsMax`). */
  abstract submit(submission: Submission): Promise<SubmissionReport>;

  /** True if the provider replaces Message-ID and Date. A signature that covers them would then break. */
  get rewritesIdentity(): boolean {
    return false;
  }
}
