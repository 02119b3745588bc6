export interface SmtpLimits {
  /** Per address (or /64 of an IPv6 address), and in total. */
  connectionsPerNetwork: number;
  connections: number;
  /** Of one message. */
  messageBytes: number;
  recipients: number;
  /** Since the last accepted message, against clients that never send one. */
  commandsWithoutMail: number;
  /** Per connection. After the first few, each reply is delayed. */
  refusedRecipients: number;
  /** Without data from the client. */
  idleMs: number;
  /** Of a connection. */
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
