/** What one listener bears. */
export interface SmtpLimits {
  /** Connections of one address (the /64 of an IPv6 one), and of all. */
  connectionsPerNetwork: number;
  connections: number;
  /** Bytes of one message. */
  messageBytes: number;
  recipients: number;
  /** Commands since the last message that was taken: whoever never sends one is asked to leave. */
  commandsWithoutMail: number;
  /** Refused recipients of one connection; behind the first few each answer takes longer. */
  refusedRecipients: number;
  /** For how long nothing may come. */
  idleMs: number;
  /** For how long a connection may last. */
  sessionMs: number;
  /** In every such stretch of a message at least so many bytes come. */
  slowMs: number;
  slowBytes: number;
  /** How long conversations may go on when the process stops. */
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
