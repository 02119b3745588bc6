import { createTransport } from 'nodemailer';
import type { SMTPTransportGetSocket } from 'nodemailer/lib/smtp-transport';
import { domainOf } from '#engine/mail/addresses.js';
import { Dialer } from '#egress/dialer.js';
import type { EmailRelay } from '#kernel/email-transport.js';
import { MailTransport, type Submission, type SubmissionReport } from '#modules/email/transport.contract.js';
import { notSent, readError, readResult, type ReadAnswers, type SmtpAnswers } from './smtp-answers.js';
import { DomainThrottle } from './throttle.js';

/** What one submission may take, with waiting for its turn. */
const TOTAL_MS = 60_000;
const SETUP_MS = 10_000;
/** Silence of the server, once there is a session. */
const SILENCE_MS = 30_000;
const CONNECTIONS = 10;
const MESSAGES_PER_CONNECTION = 100;
const TURN_AGAIN_MS = 5_000;

/** How the transport is, other than what EMAIL_TRANSPORT says. */
export interface SmtpOptions {
  /** What we call ourselves (EHLO); null leaves it to the machine's name. */
  ownName: string | null;
  /** Trusted instead of Node's own authorities, in PEM. */
  ca?: string;
  totalMs?: number;
}

/**
 * `smtp:` and `smtps:`: a relay that takes everything, over pooled connections that only the dialer opens. Nothing is tried
 * twice in here: who submitted has the schedule, and knows which recipients are still open.
 */
export class SmtpTransport extends MailTransport {
  private readonly throttle = new DomainThrottle();
  private readonly mailer: ReturnType<typeof pooled>;
  private readonly totalMs: number;

  constructor(relay: EmailRelay, dialer: Dialer, options: SmtpOptions) {
    super();
    this.totalMs = options.totalMs ?? TOTAL_MS;
    this.mailer = pooled(relay, dialer, options);
    // A connection that breaks while nothing is sent over it is nobody's error.
    this.mailer.on('error', () => undefined);
  }

  async submit(submission: Submission): Promise<SubmissionReport> {
    const signal = AbortSignal.timeout(this.totalMs);
    const domains = submission.recipients.map(domainOf);
    const leave = await this.throttle.enter(domains, signal);
    if (leave === null) return notSent(submission.recipients, 'Other mail to the same domain took all the time that there was.', TURN_AGAIN_MS);
    try {
      const { report, isThrottled } = await this.send(submission, signal);
      if (isThrottled) for (const domain of new Set(domains)) this.throttle.slowDown(domain);
      return report;
    } finally {
      leave();
    }
  }

  /** Ends the connections, also those that are in the middle of a message. */
  close(): void {
    this.mailer.close({ force: true });
  }

  private async send({ raw, mailFrom, recipients }: Submission, signal: AbortSignal): Promise<ReadAnswers> {
    const from = mailFrom(recipients);
    try {
      const result = await this.mailer.sendMail({ raw, envelope: { from: from === '' ? false : from, to: [...recipients] }, signal });
      return readResult(recipients, result);
    } catch (error) {
      return readError(recipients, error as Error & SmtpAnswers);
    }
  }
}

function pooled(relay: EmailRelay, dialer: Dialer, { ownName, ca }: SmtpOptions) {
  const { host, port, isImplicitTls, startTls, login } = relay;
  return createTransport({
    pool: true,
    host,
    port,
    secure: isImplicitTls,
    requireTLS: startTls === 'required',
    opportunisticTLS: startTls === 'opportunistic',
    ignoreTLS: startTls === 'off',
    // Where plain text would do, an unknown certificate is no worse. Said out loud, because NODE_TLS_REJECT_UNAUTHORIZED=0 would turn the default off.
    tls: { rejectUnauthorized: startTls === 'required', minVersion: 'TLSv1.2', ...(ca !== undefined && { ca }) },
    ...(login !== null && { auth: { user: login.user, pass: login.password } }),
    ...(ownName !== null && { name: ownName }),
    maxConnections: CONNECTIONS,
    maxMessages: MESSAGES_PER_CONNECTION,
    maxRequeues: 0,
    connectionTimeout: SETUP_MS,
    greetingTimeout: SETUP_MS,
    dnsTimeout: SETUP_MS,
    socketTimeout: SILENCE_MS,
    disableFileAccess: true,
    disableUrlAccess: true,
    logger: false,
    getSocket: socketsOf(relay, dialer),
  });
}

function socketsOf({ host, port }: EmailRelay, dialer: Dialer): SMTPTransportGetSocket {
  return (_options, callback) => {
    // Whether it will be encrypted the operator has said in the URL: that is his permission for plain text, too.
    dialer.open({ hostname: host, port, isEncrypted: true, protocolPort: port }, { timeoutMs: SETUP_MS }).then((connection) => {
      // Until nodemailer listens, and after it has stopped: an error that nobody hears ends the process.
      connection.on('error', () => undefined);
      callback(null, { connection });
    }, (error: Error) => callback(error));
  };
}
