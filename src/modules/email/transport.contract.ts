/** A message to send. Its bytes are the same on every attempt. */
export interface Submission {
  /** Id in the form `evt_…`, for logs and for the transport's own correlation. */
  emailId: string;
  raw: Buffer;
  /** Builds the return path; empty for none. Reports to this path are accepted only for the given recipients. */
  mailFrom: (recipients: readonly string[]) => string;
  /** Recipients without a final outcome, with domains in A-label form. */
  recipients: readonly string[];
}

export interface RecipientReply {
  address: string;
  /**
   * `bounced`: the address is permanently rejected. `failed`: a permanent rejection caused by the message, its sender
   * or a policy, which says nothing about the address. `deferred`: can be retried.
   */
  outcome: 'accepted' | 'bounced' | 'failed' | 'deferred';
  /** SMTP reply code, or 0 if there was no reply. */
  code: number;
  /** Enhanced status code (RFC 3463), such as `5.1.1`. */
  enhanced: string | null;
  /** Text of the reply, sanitized, at most 1 KB. */
  text: string;
}

export interface SubmissionReport {
  replies: readonly RecipientReply[];
  /** True if the server could not be reached (no connection, no login): the transport failed, not the message. */
  isUnreachable: boolean;
  /** True if no server reports a status after the accepting one, so that accepted means delivered. */
  isFinal: boolean;
  /** Delay that the server asked for, if any. */
  retryAfterMs: number | null;
  /** Id by which the provider's notifications refer to this submission. */
  providerMessageId?: string;
}

/** The transport that `EMAIL_TRANSPORT` selects. */
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
