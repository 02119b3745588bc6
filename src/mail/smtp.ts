import { createTransport } from 'nodemailer';
import type { SMTPTransportGetSocket } from 'nodemailer/lib/smtp-transport';
import { Dialer } from '#egress/dialer.js';
import { domainOf } from '#engine/mail/addresses.js';
import { conversationMsMax } from '#engine/mail/smtp-times.js';
import type { EmailRelay } from '#kernel/config/email-transport.js';
import { MailTransport, type Submission, type SubmissionReport } from '#modules/email/transport.contract.js';
import { ConversationWatch } from './conversation-watch.js';
import { notSent, type ReadAnswers, readError, readResult, type SmtpAnswers } from './smtp-answers.js';
import { DomainThrottle, PLACE_MS_MAX } from './throttle.js';

const SETUP_MS = 10_000;
/** Maximum idle time of a connection. Firewalls drop connections that are silent for longer. */
const IDLE_MS = 30_000;
const CONNECTIONS = 10;
const MESSAGES_PER_CONNECTION = 100;
const TURN_AGAIN_MS = 5_000;
const RELAY = 'relay';

export interface SmtpOptions {
  /** Host name sent in EHLO. Null uses the machine's host name. */
  ownName: string | null;
  /** PEM certificates trusted instead of Node's own authorities. */
  ca?: string;
  /** Time limit for one reply of the server (SMTP_ANSWER_TIMEOUT). */
  answerMsMax: number;
  /** Time limit for waiting for a slot, and separately for one conversation. Derived from `answerMsMax` by default. */
  totalMs?: number;
}

/**
 * The `smtp:` and `smtps:` transport: sends to a relay, over pooled connections that only the dialer opens. It does not
 * retry, because the caller has the retry schedule and knows the remaining recipients.
 */
export class SmtpTransport extends MailTransport {
  private readonly throttle = new DomainThrottle();
  /** Limits concurrent messages, because nodemailer has no time limit for a message that waits for a connection. */
  private readonly connections = new DomainThrottle(undefined, { atOnce: CONNECTIONS });
  private readonly mailer: ReturnType<typeof pooled>;
  private readonly totalMs: number;
  private readonly watch: ConversationWatch;

  constructor(relay: EmailRelay, dialer: Dialer, options: SmtpOptions) {
    super();
    this.totalMs = options.totalMs ?? conversationMsMax(options.answerMsMax);
    this.watch = new ConversationWatch(options.answerMsMax);
    this.mailer = pooled(relay, dialer, options, this.watch);
    // An error on an idle connection affects no message.
    this.mailer.on('error', () => undefined);
  }

  override get submitMsMax(): number {
    return PLACE_MS_MAX + this.totalMs;
  }

  async submit(submission: Submission): Promise<SubmissionReport> {
    const domains = submission.recipients.map(domainOf);
    const placeInTime = AbortSignal.timeout(Math.min(PLACE_MS_MAX, this.totalMs));
    const leave = await this.throttle.enter(domains, placeInTime);
    if (leave === null)
      return notSent(
        submission.recipients,
        'Other mail to the same domain took all the time that there was.',
        TURN_AGAIN_MS,
      );
    const disconnect = await this.connections.enter([RELAY], placeInTime);
    try {
      if (disconnect === null)
        return notSent(submission.recipients, 'Other mail took all connections to the relay.', TURN_AGAIN_MS);
      const { report, isThrottled } = await this.send(submission, AbortSignal.timeout(this.totalMs));
      if (isThrottled) for (const domain of new Set(domains)) this.throttle.slowDown(domain);
      return report;
    } finally {
      disconnect?.();
      leave();
    }
  }

  close(): void {
    this.mailer.close({ force: true });
  }

  private async send({ raw, mailFrom, recipients }: Submission, signal: AbortSignal): Promise<ReadAnswers> {
    const from = mailFrom(recipients);
    try {
      const result = await this.mailer.sendMail({
        raw,
        envelope: { from: from === '' ? false : from, to: [...recipients] },
        signal,
      });
      return readResult(recipients, result);
    } catch (error) {
      return readError(recipients, error as Error & SmtpAnswers);
    }
  }
}

function pooled(relay: EmailRelay, dialer: Dialer, { ownName, ca }: SmtpOptions, watch: ConversationWatch) {
  const { host, port, isImplicitTls, startTls, login } = relay;
  return createTransport({
    pool: true,
    host,
    port,
    secure: isImplicitTls,
    requireTLS: startTls === 'required',
    opportunisticTLS: startTls === 'opportunistic',
    ignoreTLS: startTls === 'off',
    // Unless STARTTLS is required, plain text is acceptable, so TLS with an unverified certificate is not worse.
    // `rejectUnauthorized` is set explicitly, because NODE_TLS_REJECT_UNAUTHORIZED=0 would turn the default off.
    tls: { rejectUnauthorized: startTls === 'required', minVersion: 'TLSv1.2', ...(ca !== undefined && { ca }) },
    ...(login !== null && { auth: { user: login.user, pass: login.password } }),
    ...(ownName !== null && { name: ownName }),
    maxConnections: CONNECTIONS,
    maxMessages: MESSAGES_PER_CONNECTION,
    maxRequeues: 0,
    idleTimeout: IDLE_MS,
    dnsTimeout: SETUP_MS,
    disableFileAccess: true,
    disableUrlAccess: true,
    ...watch.options,
    getSocket: socketsOf(relay, dialer, watch),
  });
}

function socketsOf({ host, port }: EmailRelay, dialer: Dialer, watch: ConversationWatch): SMTPTransportGetSocket {
  return (_options, callback) => {
    // `isEncrypted` is true even for plain text, because the operator's URL decides whether to encrypt.
    dialer.open({ hostname: host, port, isEncrypted: true, protocolPort: port }, { timeoutMs: SETUP_MS }).then(
      (connection) => {
        // Handles errors before nodemailer listens and after it has stopped. An unhandled error would end the process.
        connection.on('error', () => undefined);
        watch.attend(connection);
        callback(null, { connection });
      },
      (error: Error) => callback(error),
    );
  };
}
