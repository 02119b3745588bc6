export interface OwnMessage {
  to: string;
  /** Subject in a single line. Must not contain text from outside the service. */
  subject: string;
  text: string;
  /** Name of the mail in the log if sending fails, such as `A sign-in code`. */
  what: string;
}

/**
 * Posthorn's own mail. It goes directly to the transport and is not stored, because any key of an organization could
 * read an email stored for that organization. Sending is not retried.
 */
export abstract class OwnMail {
  /** True if this installation can send mail and has a sender name for it. */
  abstract readonly isPossible: boolean;

  /** Sends a mail and never throws. No response may reveal whether a mail was sent. */
  abstract send(message: OwnMessage): Promise<void>;
}
