import { buffer } from 'node:stream/consumers';
import { type BeforeApplicationShutdown, Injectable, Logger, type OnApplicationBootstrap } from '@nestjs/common';
import type {
  SMTPServerAddress,
  SMTPServerAuthentication,
  SMTPServerAuthenticationResponse,
  SMTPServerDataStream,
  SMTPServerSession,
} from 'smtp-server';
import { isRefused, type Mailbox, parseMailbox } from '#engine/mail/addresses.js';
import { receivingName } from '#engine/mail/platform-zone.js';
import { Clock } from '#kernel/clock.js';
import { KeyedSemaphore } from '#kernel/concurrency/keyed-semaphore.js';
import { Config } from '#kernel/config/config.js';
import { showId } from '#kernel/ids.js';
import { Readiness } from '#kernel/observability/readiness.js';
import type { Tenant } from '#kernel/tenant.js';
import { AcceptSubmittedMessage } from '#modules/email/accept-submitted-message.js';
import type { SmtpAnswer } from '#modules/inbox/contract.js';
import type { BoundedServer } from './bounded-server.js';
import { CertificateFiles } from './certificate.js';
import { type Conversation, Conversations } from './conversations.js';
import { SUBMISSION_LIMITS } from './limits.js';
import { DISABLED_COMMANDS, FAILED, PortListener, refusal, serverOptions, TOO_MANY } from './port-listener.js';
import { SubmissionMetrics } from './smtp.metrics.js';
import { type Spooled, withSpooled } from './spool.js';
import { SubmissionLogin } from './submission-login.js';
import { loginReply, messageReply } from './submission-replies.js';

type Callback = (error?: Error | null) => void;
type DataCallback = (error?: Error | null, text?: string) => void;
type LoginCallback = (error?: Error | null, response?: SMTPServerAuthenticationResponse) => void;

/** Number of failed logins after which the connection is closed. */
const FAILURES_MAX = 3;
/**
 * Maximum number of large messages (over 256 KB) in memory at the same time, and how long a further large message
 * waits.
 */
const LARGE_AT_ONCE = 4;
const LARGE_WAIT_MS_MAX = 30_000;
const LOOPBACK = /^(?:127\.|::1$)/;

const NOT_LOGGED_IN: SmtpAnswer = {
  code: 530,
  enhanced: '5.7.0',
  text: 'Log in first, with any user name and an API key as the password.',
};
const NEEDS_TLS: SmtpAnswer = { code: 538, enhanced: '5.7.11', text: 'Logging in needs TLS: send STARTTLS first.' };
const NO_CERTIFICATE: SmtpAnswer = {
  code: 538,
  enhanced: '5.7.11',
  text: 'Logging in needs TLS, for which this server has no certificate (SMTP_TLS_CERT).',
};
const TOO_MANY_FAILURES: SmtpAnswer = { code: 421, enhanced: '4.7.0', text: 'Too many failed logins, connect again.' };
const TOO_MANY_RECIPIENTS: SmtpAnswer = {
  code: 452,
  enhanced: '4.5.3',
  text: `An email has at most ${SUBMISSION_LIMITS.recipients} recipients, those of cc and bcc included.`,
};
const BUSY: SmtpAnswer = { code: 451, enhanced: '4.3.2', text: 'Too many large messages now, try again later.' };
const TOO_LARGE: SmtpAnswer = {
  code: 552,
  enhanced: '5.3.4',
  text: `A message has at most ${SUBMISSION_LIMITS.messageBytes} bytes.`,
};

/**
 * Accepts emails from mail clients (RFC 6409) on SUBMISSION_PORT, with STARTTLS, and on SUBMISSIONS_PORT, with TLS from
 * the first byte (RFC 8314). A client logs in with an API key, over TLS or from this machine.
 */
@Injectable()
export class SubmissionListener implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private readonly logger = new Logger('Submission');
  private readonly conversations: Conversations;
  private readonly name: string;
  /** API keys. Each is checked again before a message and after it, so that a revoked key sends no more. */
  private readonly keys = new WeakMap<Conversation, string>();
  private readonly large = new KeyedSemaphore(LARGE_AT_ONCE);
  private readonly listeners: PortListener[] = [];

  constructor(
    private readonly config: Config,
    private readonly login: SubmissionLogin,
    private readonly emails: AcceptSubmittedMessage,
    private readonly metrics: SubmissionMetrics,
    private readonly clock: Clock,
    private readonly readiness: Readiness,
  ) {
    this.name = receivingName(config);
    this.conversations = new Conversations(SUBMISSION_LIMITS, () => clock.monotonicMs());
  }

  /**
   * Throws if the certificate is unusable, or if a port that the operator set is in use. If the default port is in use,
   * the process runs without submission.
   */
  async onApplicationBootstrap(): Promise<void> {
    const { submissionPort, submissionsPort, isSubmissionPortAsked, takesSubmissions } = this.config;
    if (!takesSubmissions) return;
    if (submissionPort !== null) {
      try {
        await this.open(submissionPort, false);
      } catch (error) {
        if (isSubmissionPortAsked || (error as NodeJS.ErrnoException).code !== 'EADDRINUSE') throw error;
        this.logger.warn(
          `Port ${submissionPort} is taken by another process: this one takes no emails over SMTP. Set SUBMISSION_PORT to another port, or to off.`,
        );
      }
    }
    if (submissionsPort !== null) await this.open(submissionsPort, true);
    if (this.listeners.length === 0) return;
    this.metrics.watch(() => this.conversations.count);
    this.readiness.register('submission', async () => ({
      ready: this.listeners.every(({ isListening }) => isListening),
      connections: this.conversations.count,
    }));
  }

  async beforeApplicationShutdown(): Promise<void> {
    await Promise.all(this.listeners.map((listener) => listener.close()));
  }

  private async open(port: number, isImplicitTls: boolean): Promise<void> {
    const { config } = this;
    const { smtpTls, submissionHost } = config;
    const certificate = smtpTls && new CertificateFiles(smtpTls);
    const listener = new PortListener(
      await this.makeServer(certificate, isImplicitTls),
      this.conversations,
      certificate,
      SUBMISSION_LIMITS.connections,
      this.clock,
      this.logger,
    );
    const opened = await listener.open(port, submissionHost);
    this.listeners.push(listener);
    config.alsoListensOn(opened);
    const how = isImplicitTls ? 'with TLS' : certificate === null ? 'without STARTTLS' : 'with STARTTLS';
    this.logger.log(`Submission of emails at ${submissionHost}, port ${opened}, ${how}`);
  }

  private async makeServer(certificate: CertificateFiles | null, isImplicitTls: boolean): Promise<BoundedServer> {
    // The module is loaded here, because a process that accepts no submitted mail does not need it.
    const { BoundedServer } = await import('./bounded-server.js');
    const tls = certificate?.changed() ?? null;
    return new BoundedServer(
      {
        ...serverOptions(this.name, SUBMISSION_LIMITS, tls),
        secure: isImplicitTls,
        // Limits the connections whose TLS handshake is not finished. The limit in `Conversations` does not count them.
        maxClients: SUBMISSION_LIMITS.connections * 2,
        authMethods: ['PLAIN', 'LOGIN'],
        // Allowed, because `commandsDisabledFor` disables AUTH in every session that needs TLS first.
        allowInsecureAuth: true,
        onConnect: (session, callback) => this.connected(session, callback),
        onSecure: (_socket, session, callback) => this.secured(session, callback),
        onAuth: (auth, session, callback) => void this.authenticate(auth, session, callback),
        onMailFrom: (_address, session, callback) =>
          void this.begin(session).then(callback, () => callback(refusal(FAILED))),
        onRcptTo: (address, session, callback) =>
          void this.addRecipient(address, session).then(callback, () => callback(refusal(FAILED))),
        onData: (stream, session, callback) => void this.take(stream, session, callback),
        onClose: (session) => this.conversations.end(session.id),
      },
      this.config.smtpTrustProxy,
      this.conversations,
      {
        refused: (codes) => this.metrics.refused(codes),
        refusalOf: (command, session) => (command === 'AUTH' && !mayLogIn(session) ? this.needsTls() : null),
      },
    );
  }

  private connected(session: SMTPServerSession, callback: Callback): void {
    this.metrics.connected();
    session.disabledCommands = this.commandsDisabledFor(session);
    callback(this.conversationOf(session)?.isTooMany === true ? refusal(TOO_MANY) : null);
  }

  /** Discards the login when STARTTLS is complete: a login before TLS does not count (RFC 3207, section 4.2). */
  private secured(session: SMTPServerSession, callback: Callback): void {
    const conversation = this.conversationOf(session);
    if (conversation !== null) this.keys.delete(conversation);
    session.disabledCommands = this.commandsDisabledFor(session);
    callback();
  }

  /** Returns the disabled commands. They include AUTH where TLS is required, so that no key is sent unencrypted. */
  private commandsDisabledFor(session: SMTPServerSession): string[] {
    return [
      ...DISABLED_COMMANDS,
      ...(this.config.smtpTls === null ? ['STARTTLS'] : []),
      ...(mayLogIn(session) ? [] : ['AUTH']),
    ];
  }

  private async authenticate(
    { password }: SMTPServerAuthentication,
    session: SMTPServerSession,
    callback: LoginCallback,
  ): Promise<void> {
    const conversation = this.conversationOf(session);
    if (conversation === null) return callback(refusal(FAILED));
    try {
      const { keyId } = await this.login.check(password ?? '', session.remoteAddress);
      this.keys.set(conversation, password ?? '');
      this.metrics.loggedIn('accepted');
      callback(null, { user: keyId });
    } catch (error) {
      const answer = loginReply(error);
      this.metrics.loggedIn(answer.code === 535 ? 'rejected' : 'failed');
      this.logger.debug(`A login from ${session.remoteAddress} was refused: ${answer.text}`);
      conversation.refused += 1;
      callback(refusal(conversation.refused >= FAILURES_MAX ? TOO_MANY_FAILURES : answer));
    }
  }

  /** Checks the API key when a client sends MAIL. Returns null or an error. An invalid key requires a new login. */
  private async begin(session: SMTPServerSession): Promise<Error | null> {
    const conversation = this.conversationOf(session);
    const key = conversation && this.keys.get(conversation);
    if (!key) return refusal(mayLogIn(session) ? NOT_LOGGED_IN : this.needsTls());
    try {
      await this.login.admit(key, session.remoteAddress);
      return null;
    } catch (error) {
      return refusal(loggedOut(session, messageReply(error)));
    }
  }

  private needsTls(): SmtpAnswer {
    return this.config.smtpTls === null ? NO_CERTIFICATE : NEEDS_TLS;
  }

  private async addRecipient({ address }: SMTPServerAddress, session: SMTPServerSession): Promise<Error | null> {
    const conversation = this.conversationOf(session);
    if (conversation === null) return refusal(FAILED);
    if (session.envelope.rcptTo.length >= SUBMISSION_LIMITS.recipients) return refusal(TOO_MANY_RECIPIENTS);
    const mailbox = parseMailbox(address, 'international');
    if (!isRefused(mailbox)) return null;
    const next = this.conversations.refused(conversation);
    if ('code' in next) return Object.assign(new Error(next.text), { responseCode: next.code });
    await new Promise((resolve) => setTimeout(resolve, next.delayMs));
    return refusal({ code: 553, enhanced: '5.1.3', text: mailbox.refusal });
  }

  private async take(stream: SMTPServerDataStream, session: SMTPServerSession, callback: DataCallback): Promise<void> {
    const conversation = this.conversationOf(session);
    const key = conversation && this.keys.get(conversation);
    if (!key) return callback(refusal(NOT_LOGGED_IN));
    try {
      const answer = loggedOut(session, await this.receive(stream, session, conversation, key));
      if (answer.code < 300) this.conversations.delivered(conversation);
      callback(answer.code < 300 ? null : refusal(answer), `${answer.enhanced} ${answer.text}`);
    } catch (error) {
      this.logger.debug(`A message from ${session.remoteAddress} was not received: ${(error as Error).message}`);
      callback(refusal(FAILED));
    } finally {
      conversation.isStoring = false;
      for (const listener of this.listeners) listener.endIfStopping(session.id);
    }
  }

  /** Receives a message and returns the reply to it. Rejects only if the client disconnects during the message. */
  private async receive(
    stream: SMTPServerDataStream,
    session: SMTPServerSession,
    conversation: Conversation,
    key: string,
  ): Promise<SmtpAnswer> {
    const tenant = async (): Promise<Tenant> => (await this.login.check(key, session.remoteAddress)).tenant;
    const recipients = session.envelope.rcptTo
      .map(({ address }) => parseMailbox(address, 'international'))
      .filter((mailbox): mailbox is Mailbox => !isRefused(mailbox));
    const nowMs = (): number => this.clock.monotonicMs();
    return withSpooled(stream, conversation, SUBMISSION_LIMITS.messageBytes, nowMs, async (spooled) => {
      const endedMs = nowMs();
      const answer = spooled === null ? TOO_LARGE : await this.store(spooled, recipients, tenant);
      this.metrics.received(stream.byteLength, answer.code, nowMs() - endedMs);
      this.logger.debug(
        `${stream.byteLength} bytes from ${session.remoteAddress}: ${answer.code} ${answer.enhanced} ${answer.text}`,
      );
      return answer;
    });
  }

  /** Stores a message and returns the reply. A large message, spooled to a file, waits until there is memory for it. */
  private async store(
    spooled: Spooled,
    recipients: readonly Mailbox[],
    tenant: () => Promise<Tenant>,
  ): Promise<SmtpAnswer> {
    if (spooled.whole !== null) return this.answerOf(tenant, recipients, spooled.whole);
    const answer = await this.large.run('', LARGE_WAIT_MS_MAX, async () =>
      this.answerOf(tenant, recipients, await buffer(spooled.read())),
    );
    return answer ?? BUSY;
  }

  /** `tenant` checks the API key, which may have been revoked since MAIL, and rejects if it is invalid. */
  private async answerOf(
    tenant: () => Promise<Tenant>,
    recipients: readonly Mailbox[],
    raw: Buffer,
  ): Promise<SmtpAnswer> {
    try {
      const { id } = await this.emails.accept(await tenant(), recipients, raw);
      return { code: 250, enhanced: '2.0.0', text: showId('evt', id) };
    } catch (error) {
      const answer = messageReply(error);
      if (answer === FAILED) this.logger.error('A submitted message failed.', (error as Error).stack);
      return answer;
    }
  }

  private conversationOf({ id }: SMTPServerSession): Conversation | null {
    return this.conversations.find(id);
  }
}

/** Returns whether a login is encrypted, or does not leave this machine. */
function mayLogIn({ secure, remoteAddress }: SMTPServerSession): boolean {
  return secure || LOOPBACK.test(remoteAddress);
}

/** Returns the reply. After 535, removes the user, because smtp-server would otherwise refuse another login. */
function loggedOut(session: SMTPServerSession, answer: SmtpAnswer): SmtpAnswer {
  if (answer.code === 535) delete session.user;
  return answer;
}
