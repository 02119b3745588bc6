export interface SmtpLimits {
  /** Maximum connections per address (or /64 of an IPv6 address); `connections` is the maximum in total. */
  connectionsPerNetwork: number;
  connections: number;
  /** Maximum size of one message. */
  messageBytes: number;
  recipients: number;
  /** Maximum commands since the last accepted message, against clients that never send a message. */
  commandsWithoutMail: number;
  /** Maximum rejected recipients per connection. After the first few, each reply is delayed. */
  refusedRecipients: number;
  /** Maximum time without data from the client. */
  idleMs: number;
  /** Maximum duration of a connection. */
  sessionMs: number;
  /** In every interval of this length, at least `slowBytes` of a message must arrive. */
  slowMs: number;
  slowBytes: number;
  /** Time for open conversations to end when the process stops. */
  closeMs: number;
}

export const SMTP_LIMITS: SmtpLimits = {
  connectionsPerNetwork: 20,
  connections: 500,
  messageBytes: 40 * 1024 * 1024,
  recipients: 100,
  commandsWithoutMail: 300,
  refusedRecipients: 50,
  idleMs: 60_000,
  sessionMs: 1_800_000,
  slowMs: 60_000,
  slowBytes: 60 * 1024,
  closeMs: 10_000,
};
