interface Entry {
  tnx?: string;
  messageId?: string;
}

const CLOSING = /\b421[ -][^]*/;

/**
 * Collects the replies with which a server closes a reused connection instead of taking the next message (421, RFC
 * 5321, section 3.8). nodemailer's pool does not return these replies, so they are read from its log. The log
 * identifies a message by the id given to `sendMail`.
 */
export class ClosingReplies {
  private readonly replies = new Map<string, string>();
  private count = 0;

  /**
   * Returns a new id by which nodemailer's log identifies the next message. The message itself does not contain the id.
   */
  nextId(): string {
    return `${(this.count += 1)}`;
  }

  /** Stores the reply with which the server closed the connection, if the log entry contains one. */
  note({ tnx, messageId }: Entry, values: readonly unknown[]): void {
    if (tnx !== 'pool' || messageId === undefined) return;
    const reply = CLOSING.exec(String(values.at(-1)))?.[0];
    if (reply !== undefined) this.replies.set(messageId, reply);
  }

  /** Returns and removes the stored reply for a message. Null if there is none. */
  take(id: string): string | null {
    const reply = this.replies.get(id) ?? null;
    this.replies.delete(id);
    return reply;
  }
}
