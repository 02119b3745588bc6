import { once } from 'node:events';
import type { AddressInfo, Socket } from 'node:net';
import { createSecureContext } from 'node:tls';
import { type BeforeApplicationShutdown, Injectable, Logger, type OnApplicationBootstrap } from '@nestjs/common';
import type { SMTPServerAddress, SMTPServerSession } from 'smtp-server';
import { receivingName } from '#engine/mail/platform-zone.js';
import { Clock } from '#kernel/clock.js';
import { Config } from '#kernel/config/config.js';
import { Readiness } from '#kernel/observability/readiness.js';
import { IncomingMail, type SmtpAnswer } from '#modules/inbox/contract.js';
import type { BoundedServer } from './bounded-server.js';
import { CertificateFiles } from './certificate.js';
import { type Conversation, Conversations, type Ending } from './conversations.js';
import { SMTP_LIMITS } from './limits.js';
import { Reception } from './reception.js';
import { SmtpMetrics } from './smtp.metrics.js';

type Callback = (error?: Error | null) => void;
type DataCallback = (error?: Error | null, text?: string) => void;

const DISABLED = ['AUTH', 'WIZ', 'SHELL', 'KILL'];
const LOOK_EVERY_MS = 1_000;
const CERTIFICATE_EVERY_MS = 5_000;
const STOPPING: Ending = { code: 421, text: '4.3.2 The service is stopping, connect again.' };
const TOO_MANY = { code: 421, enhanced: '4.7.0', text: 'Too many connections, try again later.' };
const FAILED: SmtpAnswer = {
  code: 451,
  enhanced: '4.3.0',
  text: 'The message could not be accepted, try again later.',
};

const BUSY: SmtpAnswer = {
  code: 451,
  enhanced: '4.3.2',
  text: 'Too much is being delivered now, try again later.',
};

/**
 * Listens on SMTP_PORT for mail to aliases and for reports about sent mail. It does not relay mail and offers no login.
 */
@Injectable()
export class SmtpListener implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private readonly logger = new Logger('Smtp');
  private readonly conversations: Conversations;
  private readonly reception: Reception;
  private readonly name: string;
  private readonly certificate: CertificateFiles | null;
  private server: BoundedServer | null = null;
  private looking: NodeJS.Timeout | null = null;
  private certificateSeenMs = -Infinity;
  private isStopping = false;

  constructor(
    private readonly config: Config,
    private readonly mail: IncomingMail,
    private readonly metrics: SmtpMetrics,
    private readonly clock: Clock,
    private readonly readiness: Readiness,
  ) {
    const { smtpTls } = config;
    this.name = receivingName(config);
    this.conversations = new Conversations(SMTP_LIMITS, () => clock.monotonicMs());
    this.reception = new Reception(mail, SMTP_LIMITS, this.name, () => clock.monotonicMs());
    this.certificate = smtpTls && new CertificateFiles(smtpTls);
  }

  /**
   * Throws if the certificate is unusable, or a configured port is taken. If the default port is taken, the process
   * runs without receiving mail.
   */
  async onApplicationBootstrap(): Promise<void> {
    const { config } = this;
    if (!config.isListener || config.smtpPort === null) return;
    const server = await this.makeServer();
    // Connections are closed without a reply only at twice the limit. `maxConnections` is unsuitable: with several
    // processes on one port, each full process passes the connection on to another process.
    server.server.prependListener('connection', (socket: Socket) => {
      server.server.getConnections((_, count) => count > SMTP_LIMITS.connections * 2 && socket.destroy());
    });
    server.listen(config.smtpPort, config.host);
    try {
      await Promise.race([
        once(server.server, 'listening'),
        once(server, 'error').then(([error]) => Promise.reject(error as Error)),
      ]);
    } catch (error) {
      if (config.isSmtpPortAsked || (error as NodeJS.ErrnoException).code !== 'EADDRINUSE') throw error;
      this.logger.warn(
        `Port ${config.smtpPort} is taken by another process: this one receives no mail. Set SMTP_PORT to another port, or to off.`,
      );
      return;
    }
    server.on('error', (error) => this.logger.debug(`A connection failed: ${error.message}`));
    this.server = server;
    const { port } = server.server.address() as AddressInfo;
    config.alsoListensOn(port);
    this.metrics.watch(() => this.conversations.count);
    this.readiness.register('smtp', async () => ({
      ready: server.server.listening,
      connections: this.conversations.count,
    }));
    this.looking = setInterval(() => this.look(), LOOK_EVERY_MS);
    this.logger.log(`Mail for ${this.name} on port ${port}${this.certificate === null ? ', without STARTTLS' : ''}`);
  }

  /** Stops accepting connections, asks idle clients to reconnect later, and lets messages in progress finish. */
  async beforeApplicationShutdown(): Promise<void> {
    const { server } = this;
    if (server === null) return;
    this.isStopping = true;
    const closed = new Promise<void>((resolve) => server.close(resolve));
    this.dismissIdle(server);
    await closed;
    if (this.looking) clearInterval(this.looking);
    await this.mail.drained();
  }

  private async makeServer(): Promise<BoundedServer> {
    // The module is loaded here, because a process that receives no mail does not need it.
    const { BoundedServer } = await import('./bounded-server.js');
    const tls = this.certificate?.changed() ?? null;
    const { messageBytes, recipients, idleMs, closeMs } = SMTP_LIMITS;
    const server = new BoundedServer(
      {
        name: this.name,
        size: messageBytes,
        rejectOversized: true,
        maxRecipients: recipients,
        authOptional: true,
        disabledCommands: tls === null ? [...DISABLED, 'STARTTLS'] : DISABLED,
        disableReverseLookup: true,
        hideENHANCEDSTATUSCODES: false,
        hideDSN: true,
        lenientAddressParsing: true,
        socketTimeout: idleMs,
        closeTimeout: closeMs,
        logger: false,
        useXClient: false,
        useXForward: false,
        ...(tls !== null && { cert: tls.cert, key: tls.key, minVersion: 'TLSv1.2' as const }),
        onConnect: (session, callback) => this.connected(session, callback),
        onMailFrom: (_address, session, callback) =>
          void this.began(session).then(callback, () => callback(refusal(FAILED))),
        onRcptTo: (address, session, callback) =>
          void this.named(address, session).then(callback, () => callback(refusal(FAILED))),
        onData: (stream, session, callback) => void this.take(stream, session, callback),
        onClose: (session) => this.conversations.end(session.id),
      },
      this.config.smtpTrustProxy,
      this.conversations,
      { refused: (codes) => this.metrics.refused(codes) },
    );
    // The startup code handles errors before `listen`. Later errors belong to a single connection.
    server.on('error', () => undefined);
    return server;
  }

  private connected(session: SMTPServerSession, callback: Callback): void {
    this.metrics.connected();
    callback(this.conversationOf(session)?.isTooMany === true ? refusal(TOO_MANY) : null);
  }

  /** While deliveries keep the process busy, delays the reply to MAIL, so that the client does not send data yet. */
  private async began(session: SMTPServerSession): Promise<Error | null> {
    this.conversationOf(session)?.recipients.clear();
    return (await this.mail.turn()) ? null : refusal(BUSY);
  }

  private async named({ address }: SMTPServerAddress, session: SMTPServerSession): Promise<Error | null> {
    const conversation = this.conversationOf(session);
    if (conversation === null) return refusal(FAILED);
    const verdict = await this.mail.recipient(address, declaredBytes(session));
    if (verdict.kind !== 'refused') {
      conversation.recipients.set(address.toLowerCase(), { ...verdict, address });
      return null;
    }
    if (verdict.answer.code >= 500) {
      const next = this.conversations.refused(conversation);
      if ('code' in next) return Object.assign(new Error(next.text), { responseCode: next.code });
      await new Promise((resolve) => setTimeout(resolve, next.delayMs));
    }
    return refusal(verdict.answer);
  }

  private async take(
    stream: Parameters<Reception['take']>[0],
    session: SMTPServerSession,
    callback: DataCallback,
  ): Promise<void> {
    const conversation = this.conversationOf(session);
    if (conversation === null) return callback(refusal(FAILED));
    try {
      const { answer, sizeBytes } = await this.timed(stream, session, conversation);
      this.logger.debug(
        `${sizeBytes} bytes from ${session.remoteAddress}: ${answer.code} ${answer.enhanced} ${answer.text}`,
      );
      if (answer.code < 300) {
        this.conversations.delivered(conversation);
        callback(null, answer.text);
      } else {
        callback(refusal(answer));
      }
    } catch (error) {
      this.logger.debug(`A message from ${session.remoteAddress} was not received: ${(error as Error).message}`);
      callback(refusal(FAILED));
    } finally {
      conversation.isStoring = false;
      if (this.isStopping) this.server?.dismiss(session.id, STOPPING);
    }
  }

  private async timed(
    stream: Parameters<Reception['take']>[0],
    session: SMTPServerSession,
    conversation: Conversation,
  ): ReturnType<Reception['take']> {
    let endedMs = this.clock.monotonicMs();
    stream.once('end', () => (endedMs = this.clock.monotonicMs()));
    const taken = await this.reception.take(stream, session, conversation);
    this.metrics.received(taken.sizeBytes, taken.answer.code, this.clock.monotonicMs() - endedMs);
    return taken;
  }

  private look(): void {
    const { server } = this;
    if (server === null) return;
    for (const [id, ending] of this.conversations.overdue()) server.dismiss(id, ending);
    this.renewCertificate(server);
  }

  /** Certificate and key may not match while files are replaced. The previous pair stays in use until they match. */
  private renewCertificate(server: BoundedServer): void {
    const nowMs = this.clock.monotonicMs();
    if (this.certificate === null || nowMs - this.certificateSeenMs < CERTIFICATE_EVERY_MS) return;
    this.certificateSeenMs = nowMs;
    try {
      const changed = this.certificate.changed();
      if (changed === null) return;
      // Checks the new pair first, because the server checks it only after it has dropped the old certificate.
      createSecureContext(changed);
      server.updateSecureContext({ cert: changed.cert, key: changed.key });
      this.logger.log('The certificate was reloaded.');
    } catch (error) {
      this.certificate.forget();
      this.logger.warn(`The certificate can't be read, the previous one stays: ${(error as Error).message}`);
    }
  }

  private dismissIdle(server: BoundedServer): void {
    for (const { id, session } of [...server.connections]) {
      const conversation = this.conversations.find(id);
      const isBusy =
        conversation !== null &&
        (conversation.arriving !== null || conversation.isStoring || session.envelope?.mailFrom);
      if (!isBusy) server.dismiss(id, STOPPING);
    }
  }

  private conversationOf({ id }: SMTPServerSession): Conversation | null {
    return this.conversations.find(id);
  }
}

function declaredBytes({ envelope: { mailFrom } }: SMTPServerSession): number {
  const size = mailFrom === false || mailFrom.args === false ? undefined : mailFrom.args['SIZE'];
  return typeof size === 'string' && /^\d{1,12}$/.test(size) ? Number(size) : 0;
}

function refusal({ code, enhanced, text }: SmtpAnswer): Error {
  return Object.assign(new Error(`${enhanced} ${text}`), { responseCode: code });
}
