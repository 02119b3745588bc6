import { DiscoveryService } from '@nestjs/core';

/** Marks a transport for `EMAIL_TRANSPORT=extension:NAME`: `@Transport() class AcmeTransport extends NamedMailTransport`. */
export const Transport = DiscoveryService.createDecorator();

/** A message to send. Its bytes are the same on every attempt. */
export interface Submission {
  /** Id of the email in the form `evt_…`, for logs and for the transport's own use. */
  emailId: string;
  raw: Buffer;
  /** Returns the return path, or '' for none. A report to this path applies only to the given recipients. */
  mailFrom: (recipients: readonly string[]) => string;
  /** Recipients without a final state. Their domains are in A-label form. */
  recipients: readonly string[];
}

export interface RecipientReply {
  address: string;
  /**
   * `bounced`: the address is permanently rejected. `failed`: the message is permanently rejected because of its
   * content, its sender or a policy, so the address may be valid. `deferred`: the message can be sent again later.
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
  /** True if the server could not be reached (no connection, no login). The message itself was not rejected. */
  isUnreachable: boolean;
  /** True if an accepted message counts as delivered, because no later report about it is expected. */
  isFinal: boolean;
  /** Delay that the server requested. Null if it requested none. */
  retryAfterMs: number | null;
  /** Id by which the provider's notifications refer to this submission. */
  providerMessageId?: string;
}

/** The email transport that `EMAIL_TRANSPORT` selects. */
export abstract class MailTransport {
  get submitMsMax(): number {
    return 60_000;
  }

  /** Sends a message. Never throws, and enforces its own time limit (`submitMsMax`). */
  abstract submit(submission: Submission): Promise<SubmissionReport>;

  /** True if the provider replaces Message-ID and Date. A signature over these headers would then become invalid. */
  get rewritesIdentity(): boolean {
    return false;
  }

  /** Returns whether the next mail server accepts addresses outside ASCII (RFC 6531). Null if this is not known yet. */
  offersSmtpUtf8(): Promise<boolean | null> {
    return Promise.resolve(null);
  }
}

/**
 * An email transport from an extension. If it throws, exceeds `submitMsMax` or returns no report, the email is sent
 * again later. Recipients without a valid reply count as deferred.
 */
export abstract class NamedMailTransport extends MailTransport {
  /** Name of the transport: lower-case letters, digits and `-`. */
  abstract readonly name: string;
}
