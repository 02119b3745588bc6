import './complete-replies.js';
import { PassThrough } from 'node:stream';
import { createTransport } from 'nodemailer';
import type { SMTPTransportGetSocket } from 'nodemailer/lib/smtp-transport';
import { Dialer } from '#egress/dialer.js';
import { domainOf } from '#engine/mail/addresses.js';
import { conversationMsMax } from '#engine/mail/smtp-times.js';
import { withDeadline } from '#kernel/concurrency/deadline.js';
import type { EmailRelay } from '#kernel/config/email-transport.js';
import { MailTransport, type Submission, type SubmissionReport } from '#modules/email/transport.contract.js';
import { ConversationWatch } from './conversation-watch.js';
import { envelopeOf } from './envelope.js';
import { isDropped, notSent, type ReadAnswers, readError, readResult, type SmtpAnswers } from './smtp-answers.js';
import {
  type MailConnection,
  needsSmtpUtf8,
  NoSmtpUtf8,
  offersSmtpUtf8,
  refusedWithoutSmtpUtf8,
  sendWithSmtpUtf8,
  type SmtpUtf8Host,
} from './smtp-utf8.js';
import { DomainThrottle, PLACE_MS_MAX } from './throttle.js';

const SETUP_MS = 10_000;
/** Maximum idle time of a connection. Firewalls drop connections that are silent for longer. */
const IDLE_MS = 30_000;
const CONNECTIONS = 10;
const MESSAGES_PER_CONNECTION = 100;
const TURN_AGAIN_MS = 5_000;
const RELAY = 'relay';
/**
 * Time limit for checking whether the relay offers SMTPUTF8. The constants below are the cache times of a result and of
 * a failed check.
 */
const OFFER_MS_MAX = 5_000;
const OFFER_KEPT_MS = 600_000;
const NO_OFFER_KEPT_MS = 30_000;

export interface SmtpOptions {
  /** Host name sent in EHLO. Null uses the machine's host name. */
  ownName: string | null;
  /** PEM certificates of the trusted authorities. Replaces Node's own list. */
  ca?: string;
  /** Time limit for one reply of the server (SMTP_ANSWER_TIMEOUT). */
  answerMsMax: number;
  /** Time limit of the wait for a free slot, and of one conversation. Derived from `answerMsMax` by default. */
  totalMs?: number;
}

/**
 * The `smtp:` and `smtps:` transport: sends to a relay over pooled connections. Only the dialer opens connections. The
 * transport does not retry, because the caller has the retry schedule and the list of remaining recipients.
 */
export class SmtpTransport extends MailTransport {
  private readonly throttle = new DomainThrottle();
  /** Limits concurrent messages, because nodemailer has no time limit for a message that waits for a connection. */
  private readonly connections = new DomainThrottle(undefined, { atOnce: CONNECTIONS });
  private readonly mailer: ReturnType<typeof pooled>;
  private readonly totalMs: number;
  private readonly watch: ConversationWatch;
  private offer: { offers: Promise<boolean | null>; untilMs: number } | null = null;

  constructor(
    private readonly relay: EmailRelay,
    private readonly dialer: Dialer,
    private readonly options: SmtpOptions,
  ) {
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

  /**
   * Returns whether the relay offers SMTPUTF8, or null if it does not respond within five seconds. A result is cached
   * for ten minutes, a missing result for 30 seconds. Concurrent calls share one connection.
   */
  override offersSmtpUtf8(): Promise<boolean | null> {
    if (this.offer !== null && this.offer.untilMs > performance.now()) return this.offer.offers;
    const offer = { offers: this.askSmtpUtf8(), untilMs: performance.now() + OFFER_KEPT_MS };
    void offer.offers.then((offers) => {
      if (offers === null) offer.untilMs = performance.now() + NO_OFFER_KEPT_MS;
    });
    this.offer = offer;
    return offer.offers;
  }

  close(): void {
    this.mailer.close({ force: true });
  }

  private async askSmtpUtf8(): Promise<boolean | null> {
    // If the connection opens too late, the signal closes it.
    const signal = AbortSignal.timeout(OFFER_MS_MAX);
    try {
      return await withDeadline(OFFER_MS_MAX, async () => offersSmtpUtf8(await this.host(), signal));
    } catch {
      return null;
    }
  }

  private async send(submission: Submission, signal: AbortSignal): Promise<ReadAnswers> {
    const { raw, mailFrom, recipients } = submission;
    let kept: Error | null = null;
    try {
      if (needsSmtpUtf8(submission)) {
        const message = { raw, from: mailFrom(recipients), recipients };
        return readResult(recipients, await sendWithSmtpUtf8(await this.host(), message, signal));
      }
      const envelope = { ...envelopeOf(submission), keepError: (error: Error) => void (kept = error) };
      return readResult(recipients, await this.mailer.sendMail({ raw, envelope, signal }));
    } catch (error) {
      if (error instanceof NoSmtpUtf8)
        return { report: refusedWithoutSmtpUtf8(recipients, this.relay.host), isThrottled: false };
      return readError(recipients, (isDropped(error as Error) ? (kept ?? error) : error) as Error & SmtpAnswers);
    }
  }

  /** Returns the relay with a new open connection, which is not part of the pool. */
  private async host(): Promise<SmtpUtf8Host> {
    const { relay, dialer, options, watch } = this;
    const connection = await openSocket(relay, dialer, watch);
    return { host: relay.host, options: settingsOf(relay, options, watch), connection, login: relay.login };
  }
}

function pooled(relay: EmailRelay, dialer: Dialer, options: SmtpOptions, watch: ConversationWatch) {
  const { login } = relay;
  const mailer = createTransport({
    pool: true,
    ...settingsOf(relay, options, watch),
    ...(login !== null && { auth: { user: login.user, pass: login.password } }),
    maxConnections: CONNECTIONS,
    maxMessages: MESSAGES_PER_CONNECTION,
    maxRequeues: 0,
    idleTimeout: IDLE_MS,
    disableFileAccess: true,
    disableUrlAccess: true,
    getSocket: socketsOf(relay, dialer, watch),
  });
  // Messages are complete. By default, nodemailer copies them through two more streams.
  mailer.use('stream', ({ data, message }, done) => {
    message.createReadStream = () => new PassThrough().end(data.raw);
    done();
  });
  return mailer;
}

function settingsOf(
  { host, port, isImplicitTls, startTls }: EmailRelay,
  { ownName, ca }: SmtpOptions,
  watch: ConversationWatch,
) {
  return {
    host,
    port,
    secure: isImplicitTls,
    requireTLS: startTls === 'required',
    opportunisticTLS: startTls === 'opportunistic',
    ignoreTLS: startTls === 'off',
    // Unless STARTTLS is required, plain text is acceptable, so TLS with an unverified certificate is not worse.
    // `rejectUnauthorized` is set explicitly, because NODE_TLS_REJECT_UNAUTHORIZED=0 would turn the default off.
    tls: {
      rejectUnauthorized: startTls === 'required',
      minVersion: 'TLSv1.2' as const,
      ...(ca !== undefined && { ca }),
    },
    ...(ownName !== null && { name: ownName }),
    dnsTimeout: SETUP_MS,
    ...watch.options,
  };
}

function socketsOf(relay: EmailRelay, dialer: Dialer, watch: ConversationWatch): SMTPTransportGetSocket {
  return (_options, callback) => {
    openSocket(relay, dialer, watch).then(
      (connection) => callback(null, { connection }),
      (error: Error) => callback(error),
    );
  };
}

async function openSocket(
  { host, port }: EmailRelay,
  dialer: Dialer,
  watch: ConversationWatch,
): Promise<MailConnection> {
  // `isEncrypted` is true even for plain text, because the operator's URL decides whether to encrypt.
  const connection = await dialer.open(
    { hostname: host, port, isEncrypted: true, protocolPort: port },
    { timeoutMs: SETUP_MS },
  );
  // Handles errors that occur while nodemailer does not listen. An unhandled error would end the process.
  connection.on('error', () => undefined);
  watch.attend(connection);
  return connection;
}
