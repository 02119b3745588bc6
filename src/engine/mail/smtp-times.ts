const MINUTE_MS = 60_000;

/** RFC 5321. `block`: the network accepts a part of the message. `final-dot`: the server answers the whole message. */
export type SmtpWait = keyof typeof RFC_WAITS_MS;

/** RFC 5321, section 4.5.3.2. It specifies no time for EHLO, STARTTLS, AUTH and RSET, so they use that of MAIL. */
export const RFC_WAITS_MS = {
  /** 4.5.3.2.1 */
  greeting: 5 * MINUTE_MS,
  /** 4.5.3.2.2 */
  mail: 5 * MINUTE_MS,
  /** 4.5.3.2.3 */
  rcpt: 5 * MINUTE_MS,
  /** 4.5.3.2.4 */
  data: 2 * MINUTE_MS,
  /** 4.5.3.2.5 */
  block: 3 * MINUTE_MS,
  /** 4.5.3.2.6: a server that replies too late has accepted the message, and a retry would duplicate it. */
  'final-dot': 10 * MINUTE_MS,
  command: 5 * MINUTE_MS,
} as const;

/** Limited to the operator's maximum for one reply. */
export function waitMs(wait: SmtpWait, answerMsMax: number): number {
  return Math.min(RFC_WAITS_MS[wait], answerMsMax);
}

export function waitAfter(command: string): SmtpWait {
  if (/^MAIL /i.test(command)) return 'mail';
  if (/^RCPT /i.test(command)) return 'rcpt';
  return /^DATA\b/i.test(command) ? 'data' : 'command';
}

/** For a whole conversation: limits a server that is slow with every reply. */
export function conversationMsMax(answerMsMax: number): number {
  return 2 * answerMsMax;
}
