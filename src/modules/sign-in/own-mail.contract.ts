/** One mail of the service itself, in plain text. */
export interface OwnMessage {
  /** One address. */
  to: string;
  /** In one line; nothing that strangers wrote. */
  subject: string;
  text: string;
  /** What it is, for the log when it could not be mailed: `A sign-in code`. */
  what: string;
}

/**
 * What the service itself mails to people. It goes to the transport and is stored nowhere: as an email of an organization it could be
 * read by whoever holds a key of it. It is not tried again.
 */
export abstract class OwnMail {
  /** Whether mail leaves this installation at all, and there is a name for it to leave in. */
  abstract readonly isPossible: boolean;

  /** Never throws: nothing that anybody is shown depends on whether somebody got mail. */
  abstract send(message: OwnMessage): Promise<void>;
}
