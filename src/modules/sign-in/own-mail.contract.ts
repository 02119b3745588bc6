export interface OwnMessage {
  to: string;
  /** Subject in a single line. Must not contain text from outside Posthorn. */
  subject: string;
  text: string;
  /** Name of the mail in the log if sending fails, such as `A sign-in code`. */
  what: string;
}
