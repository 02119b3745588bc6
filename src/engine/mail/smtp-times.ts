const MINUTE_MS = 60_000;

/**
 * Type of a wait for the server. `block`: sending a part of the message. `final-dot`: the reply to the whole message.
 */
export type SmtpWait = keyof typeof RFC_WAITS_MS;

/** Waits of RFC 5321, section 4.5.3.2. EHLO, STARTTLS, AUTH and RSET are not listed there and use the wait for MAIL. */
export const RFC_WAITS_MS = {
  /** RFC 5321, section 4.5.3.2.1. */
  greeting: 5 * MINUTE_MS,
  /** RFC 5321, section 4.5.3.2.2. */
  mail: 5 * MINUTE_MS,
  /** RFC 5321, section 4.5.3.2.3. */
  rcpt: 5 * MINUTE_MS,
  /** RFC 5321, section 4.5.3.2.4. */
  data: 2 * MINUTE_MS,
  /** RFC 5321, section 4.5.3.2.5. */
  block: 3 * MINUTE_MS,
  /** RFC 5321, section 4.5.3.2.6. With a shorter wait, a retry may duplicate a message that the server accepts. */
  'final-dot': 10 * MINUTE_MS,
  command: 5 * MINUTE_MS,
} as const;

/** Returns the wait of RFC 5321, limited to the operator's maximum for one reply (`answerMsMax`). */
export function waitMs(wait: SmtpWait, answerMsMax: number): number {
  return Math.min(RFC_WAITS_MS[wait], answerMsMax);
}

export function waitAfter(command: string): SmtpWait {
  if (/^MAIL /i.test(command)) return 'mail';
  if (/^RCPT /i.test(command)) return 'rcpt';
  return /^DATA\b/i.test(command) ? 'data' : 'command';
}

/** Returns the time limit of a whole conversation, for servers that are slow with every reply. */
export function conversationMsMax(answerMsMax: number): number {
  return 2 * answerMsMax;
}
