/** One plain-text mail from Posthorn itself. */
export interface OwnMessage {
  /** A single address. */
  to: string;
  /** A single line, without text from outside the service. */
  subject: string;
  text: string;
  /** Name of the mail for the log, used if sending fails: `A sign-in code`. */
  what: string;
}

/**
 * Sends mails from Posthorn itself. They go directly to the transport and are not stored: an email stored for an
 * organization could be read with any key of that organization. Sending is not retried.
 */
export abstract class OwnMail {
  /** Whether this installation can send mail at all, and has a sender name for it. */
  abstract readonly isPossible: boolean;

  /** Sends a mail and never throws. No response may reveal whether a mail was sent. */
  abstract send(message: OwnMessage): Promise<void>;
}
