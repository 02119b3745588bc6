export interface OwnMessage {
  to: string;
  /** A single line, without text from outside the service. */
  subject: string;
  text: string;
  /** Name for the log if sending fails: `A sign-in code`. */
  what: string;
}

/**
 * Mails from Posthorn itself go directly to the transport and are not stored: an email stored for an organization could
 * be read with any of its keys. Sending is not retried.
 */
export abstract class OwnMail {
  /** Whether this installation can send mail at all, and has a sender name for it. */
  abstract readonly isPossible: boolean;

  /** Sends a mail and never throws. No response may reveal whether a mail was sent. */
  abstract send(message: OwnMessage): Promise<void>;
}
