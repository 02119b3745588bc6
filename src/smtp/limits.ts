export interface SmtpLimits {
  /** Maximum number of connections per IPv4 address or IPv6 /64 network. `connections` is the maximum in total. */
  connectionsPerNetwork: number;
  connections: number;
  /** Maximum size of one message. */
  messageBytes: number;
  recipients: number;
  /** Maximum number of commands since the last accepted message. Stops clients that never send a message. */
  commandsWithoutMail: number;
  /** Maximum number of rejected recipients per connection. After the first few rejections, the replies are delayed. */
  refusedRecipients: number;
  /** Maximum time without data from the client. */
  idleMs: number;
  /** Maximum duration of a connection. */
  sessionMs: number;
  /** Length of an interval of the speed check. In each interval, at least `slowBytes` of a message must arrive. */
  slowMs: number;
  slowBytes: number;
  /** Time that open SMTP connections get to finish when the process stops. */
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

/** Limits for submitted mail. They allow the API's maximum message: 10 MB of attachments in base64, and bodies. */
export const SUBMISSION_LIMITS: SmtpLimits = {
  ...SMTP_LIMITS,
  // High, because clients that send much mail keep a pool of connections open.
  connectionsPerNetwork: 100,
  messageBytes: 18 * 1024 * 1024,
  recipients: 50,
};
