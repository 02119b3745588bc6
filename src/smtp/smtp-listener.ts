import { type BeforeApplicationShutdown, Injectable, Logger, type OnApplicationBootstrap } from '@nestjs/common';
import type { SMTPServerAddress, SMTPServerSession } from 'smtp-server';
import { receivingName } from '#engine/mail/platform-zone.js';
import { Clock } from '#kernel/clock.js';
import { Config } from '#kernel/config/config.js';
import { Readiness } from '#kernel/observability/readiness.js';
import { IncomingMail, type SmtpAnswer } from '#modules/inbox/contract.js';
import type { BoundedServer } from './bounded-server.js';
import { CertificateFiles } from './certificate.js';
import { type Conversation, Conversations } from './conversations.js';
import { SMTP_LIMITS } from './limits.js';
import { DISABLED_COMMANDS, FAILED, PortListener, refusal, serverOptions, TOO_MANY } from './port-listener.js';
import { Reception } from './reception.js';
import { SmtpMetrics } from './smtp.metrics.js';

type Callback = (error?: Error | null) => void;
type DataCallback = (error?: Error | null, text?: string) => void;

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
  private listener: PortListener | null = null;

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
   * Throws if the certificate is unusable, or if the port in SMTP_PORT is in use. If the default port is in use, the
   * process runs without receiving mail.
   */
  async onApplicationBootstrap(): Promise<void> {
    const { config } = this;
    if (!config.isListener || config.smtpPort === null) return;
    const listener = new PortListener(
      await this.makeServer(),
      this.conversations,
      this.certificate,
      SMTP_LIMITS.connections,
      this.clock,
      this.logger,
    );
    let port: number;
    try {
      port = await listener.open(config.smtpPort, config.host);
    } catch (error) {
      if (config.isSmtpPortAsked || (error as NodeJS.ErrnoException).code !== 'EADDRINUSE') throw error;
      this.logger.warn(
        `Port ${config.smtpPort} is taken by another process: this one receives no mail. Set SMTP_PORT to another port, or to off.`,
      );
      return;
    }
    this.listener = listener;
    config.alsoListensOn(port);
    this.metrics.watch(() => this.conversations.count);
    this.readiness.register('smtp', async () => ({
      ready: listener.isListening,
      connections: this.conversations.count,
    }));
    this.logger.log(`Mail for ${this.name} on port ${port}${this.certificate === null ? ', without STARTTLS' : ''}`);
  }

  async beforeApplicationShutdown(): Promise<void> {
    if (this.listener === null) return;
    await this.listener.close();
    await this.mail.drained();
  }

  private async makeServer(): Promise<BoundedServer> {
    // The module is loaded here, because a process that receives no mail does not need it.
    const { BoundedServer } = await import('./bounded-server.js');
    const tls = this.certificate?.changed() ?? null;
    return new BoundedServer(
      {
        ...serverOptions(this.name, SMTP_LIMITS, tls),
        maxRecipients: SMTP_LIMITS.recipients,
        disabledCommands: [...DISABLED_COMMANDS, 'AUTH', ...(tls === null ? ['STARTTLS'] : [])],
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
  }

  private connected(session: SMTPServerSession, callback: Callback): void {
    this.metrics.connected();
    callback(this.conversationOf(session)?.isTooMany === true ? refusal(TOO_MANY) : null);
  }

  /**
   * Delays the reply to MAIL while deliveries use all capacity, so that the client does not send the message yet.
   * Returns an error on timeout.
   */
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
      this.listener?.endIfStopping(session.id);
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

  private conversationOf({ id }: SMTPServerSession): Conversation | null {
    return this.conversations.find(id);
  }
}

function declaredBytes({ envelope: { mailFrom } }: SMTPServerSession): number {
  const size = mailFrom === false || mailFrom.args === false ? undefined : mailFrom.args['SIZE'];
  return typeof size === 'string' && /^\d{1,12}$/.test(size) ? Number(size) : 0;
}
