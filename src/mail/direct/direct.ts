import '../complete-replies.js';
import { createTransport } from 'nodemailer';
import type { Dialer } from '#egress/dialer.js';
import { domainOf } from '#engine/mail/addresses.js';
import { isNamed, type MtaStsPolicy } from '#engine/mail/mta-sts.js';
import { conversationMsMax } from '#engine/mail/smtp-times.js';
import {
  MailTransport,
  type RecipientReply,
  type Submission,
  type SubmissionReport,
} from '#modules/email/transport.contract.js';
import { ConversationWatch } from '../conversation-watch.js';
import { envelopeOf } from '../envelope.js';
import { notSent, type ReadAnswers, readError, readResult, type SmtpAnswers } from '../smtp-answers.js';
import {
  type MailConnection,
  needsSmtpUtf8,
  NoSmtpUtf8,
  refusedWithoutSmtpUtf8,
  sendWithSmtpUtf8,
} from '../smtp-utf8.js';
import { DomainThrottle, PLACE_MS_MAX } from '../throttle.js';
import { type HostConversation, HostThrottle } from './host-throttle.js';
import { type MailHosts, mailHosts, type MailRecords, unanswered } from './mail-hosts.js';
import type { MtaStsPolicies } from './policies.js';

const SETUP_MS = 10_000;
/**
 * Maximum number of domains to which a message is sent at the same time. Excludes domains that take over half a minute.
 */
const DOMAINS_AT_ONCE = 5;
const COUNTED_MS = 30_000;
const TURN_AGAIN_MS = 5_000;
const SILENT_AGAIN_MS = 60_000;
/** Time after which the name servers of a domain count as silent. A query takes at most four seconds. */
const DNS_MS_MAX = 3_000;

export interface DirectOptions {
  /** Host name sent in EHLO. Receiving servers look it up in DNS. */
  ownName: string;
  port: number;
  /** PEM certificates trusted instead of Node's own authorities, if the domain's MTA-STS policy is enforced. */
  ca?: string;
  /** Time limit for one reply of a server (SMTP_ANSWER_TIMEOUT). */
  answerMsMax: number;
  /** Time limit for all conversations of one submission. Derived from `answerMsMax` by default. */
  totalMs?: number;
  /** Time after which a server that does not reply counts as silent (see `HostThrottle`). */
  hostReplyMsMax?: number | undefined;
  random: () => number;
}

/** TLS with a valid certificate, TLS with any certificate, or plain text. */
type Encryption = 'verified' | 'opportunistic' | 'none';

/**
 * The `direct:` transport: sends to each domain's own mail servers, in the order of its MX, until a server is
 * reachable.
 *
 * It encrypts if the server offers TLS. If the domain's MTA-STS policy is enforced, it uses only the servers in the
 * policy, with a valid certificate. The egress policy applies to every connection. A message is not sent to another
 * server once a server has begun to accept it.
 */
export class DirectTransport extends MailTransport {
  private readonly throttle = new DomainThrottle();
  private readonly hosts: HostThrottle;
  /** Limits the lookups per domain. Otherwise, each email to the domain would wait for silent name servers. */
  private readonly lookups = new HostThrottle(undefined, { replyMsMax: DNS_MS_MAX, openingReplies: 1 });

  constructor(
    private readonly dialer: Dialer,
    private readonly records: MailRecords,
    private readonly policies: Pick<MtaStsPolicies, 'findByDomain'>,
    private readonly options: DirectOptions,
  ) {
    super();
    this.hosts = new HostThrottle(undefined, { replyMsMax: options.hostReplyMsMax });
  }

  async submit(submission: Submission): Promise<SubmissionReport> {
    const signal = AbortSignal.timeout(this.submitMsMax);
    const domains = [...new Set(submission.recipients.map(domainOf))];
    const reports = await eachSoon(domains, (domain) => {
      const own = submission.recipients.filter((address) => domainOf(address) === domain);
      return this.toDomain(domain, { ...submission, recipients: own }, signal);
    });
    return together(reports);
  }

  override get submitMsMax(): number {
    return this.options.totalMs ?? PLACE_MS_MAX + conversationMsMax(this.options.answerMsMax);
  }

  private async toDomain(domain: string, submission: Submission, signal: AbortSignal): Promise<SubmissionReport> {
    const { recipients } = submission;
    const leave = await this.throttle.enter([domain], AbortSignal.any([signal, AbortSignal.timeout(PLACE_MS_MAX)]));
    if (leave === null)
      return notSent(recipients, 'Other mail to the same domain took all the time that there was.', TURN_AGAIN_MS);
    try {
      const lookup = await this.lookups.enter(domain, signal);
      if (lookup === null) return settled(recipients, unanswered(domain, 'ETIMEOUT'));
      const [found, policy] = await Promise.all([this.hostsOf(domain, lookup), this.policies.findByDomain(domain)]);
      if ('outcome' in found) return settled(recipients, found);
      const { report, isThrottled } = await this.toHosts(
        found.hosts,
        policy?.mode === 'enforce' ? policy : null,
        submission,
        signal,
      );
      if (isThrottled) this.throttle.slowDown(domain);
      return report;
    } finally {
      leave();
    }
  }

  private async hostsOf(domain: string, lookup: HostConversation): Promise<MailHosts> {
    try {
      const found = await mailHosts(this.records, domain, this.options.random);
      if ('hosts' in found || found.outcome === 'bounced') lookup.noteReply();
      return found;
    } finally {
      lookup.end();
    }
  }

  /** Tries the hosts in the given order until one is reachable. The reply of this host counts for the whole domain. */
  private async toHosts(
    hosts: readonly string[],
    enforced: MtaStsPolicy | null,
    submission: Submission,
    signal: AbortSignal,
  ): Promise<ReadAnswers> {
    const allowed = enforced === null ? hosts : hosts.filter((host) => isNamed(enforced, host));
    let last: ReadAnswers = { report: settled(submission.recipients, NOT_NAMED), isThrottled: false };
    for (const host of allowed) {
      last = await this.toHost(host, enforced === null ? 'opportunistic' : 'verified', submission, signal);
      if (!last.report.isUnreachable || signal.aborted) break;
    }
    return last;
  }

  private async toHost(
    host: string,
    encryption: Encryption,
    submission: Submission,
    signal: AbortSignal,
  ): Promise<ReadAnswers> {
    const { recipients } = submission;
    const conversation = await this.hosts.enter(host, signal);
    if (conversation === null) return notConnected(recipients, host);
    const watch = new ConversationWatch(this.options.answerMsMax, () => conversation.noteReply());
    try {
      const result = needsSmtpUtf8(submission)
        ? await this.sendWithSmtpUtf8(host, encryption, watch, submission, signal)
        : await this.sendOne(host, encryption, watch, submission, signal);
      return readResult(recipients, result);
    } catch (error) {
      if (error instanceof NoSmtpUtf8) return { report: refusedWithoutSmtpUtf8(recipients, host), isThrottled: false };
      // If a server offers TLS but the handshake fails, the message is sent in plain text, as to a server without TLS
      // (RFC 7435).
      if (encryption === 'opportunistic' && isOfTls(error as SmtpAnswers) && !signal.aborted) {
        conversation.end();
        return await this.toHost(host, 'none', submission, signal);
      }
      return readError(recipients, error as Error & SmtpAnswers);
    } finally {
      conversation.end();
    }
  }

  private async sendOne(
    host: string,
    encryption: Encryption,
    watch: ConversationWatch,
    submission: Submission,
    signal: AbortSignal,
  ): Promise<SmtpAnswers> {
    const mailer = this.mailer(host, encryption, watch);
    try {
      return await mailer.sendMail({ raw: submission.raw, envelope: envelopeOf(submission), signal });
    } finally {
      mailer.close();
    }
  }

  private async sendWithSmtpUtf8(
    host: string,
    encryption: Encryption,
    watch: ConversationWatch,
    { raw, mailFrom, recipients }: Submission,
    signal: AbortSignal,
  ): Promise<SmtpAnswers> {
    const connection = await this.open(host, watch);
    const options = this.connectionOptions(host, encryption, watch);
    const message = { raw, from: mailFrom(recipients), recipients };
    return sendWithSmtpUtf8({ host, options, connection, login: null }, message, signal);
  }

  private mailer(host: string, encryption: Encryption, watch: ConversationWatch) {
    return createTransport({
      ...this.connectionOptions(host, encryption, watch),
      disableFileAccess: true,
      disableUrlAccess: true,
      getSocket: (_options, callback) => {
        this.open(host, watch).then(
          (connection) => callback(null, { connection }),
          (error: Error) => callback(error),
        );
      },
    });
  }

  /** Opens a connection to a host that the egress policy allows. */
  private async open(host: string, watch: ConversationWatch): Promise<MailConnection> {
    const { port } = this.options;
    // `isEncrypted` is true although a server may lack TLS: the operator permits plain text by choosing `direct:`.
    const connection = await this.dialer.open(
      { hostname: host, port, isEncrypted: true, protocolPort: port },
      { timeoutMs: SETUP_MS },
    );
    connection.on('error', () => undefined);
    watch.attend(connection);
    return connection;
  }

  private connectionOptions(host: string, encryption: Encryption, watch: ConversationWatch) {
    const { ownName, port, ca } = this.options;
    return {
      host,
      port,
      name: ownName,
      secure: false,
      requireTLS: encryption === 'verified',
      opportunisticTLS: encryption === 'opportunistic',
      ignoreTLS: encryption === 'none',
      // In opportunistic mode, plain text is acceptable too, so TLS with an unverified certificate is not worse.
      tls: {
        rejectUnauthorized: encryption === 'verified',
        minVersion: 'TLSv1.2' as const,
        servername: host,
        ...(ca !== undefined && { ca }),
      },
      dnsTimeout: SETUP_MS,
      ...watch.options,
    };
  }
}

/**
 * Calls `make` for a limited number of items at a time, and returns the results in order. An item that takes over half
 * a minute no longer counts toward the limit, so that it does not block others.
 */
async function eachSoon<T, R>(items: readonly T[], make: (item: T) => Promise<R>): Promise<R[]> {
  let counted = 0;
  let wake = (): void => undefined;
  const made: Promise<R>[] = [];
  for (const item of items) {
    while (counted >= DOMAINS_AT_ONCE) await new Promise<void>((resolve) => (wake = resolve));
    counted += 1;
    let isCounted = true;
    const free = (): void => {
      if (!isCounted) return;
      isCounted = false;
      counted -= 1;
      wake();
    };
    const timer = setTimeout(free, COUNTED_MS);
    timer.unref();
    made.push(
      make(item).finally(() => {
        clearTimeout(timer);
        free();
      }),
    );
  }
  return Promise.all(made);
}

const NOT_NAMED = {
  outcome: 'deferred',
  code: 451,
  enhanced: '4.7.5',
  text: '451 4.7.5 The MTA-STS policy of the domain names none of its mail servers.',
} as const;

/** Returns the report for a host that `HostThrottle` rejected. The next host of the domain may be reachable. */
function notConnected(recipients: readonly string[], host: string): ReadAnswers {
  const text = `Posthorn did not connect to ${host}, because this mail server did not reply to other mail in time.`;
  return { report: { ...notSent(recipients, text, SILENT_AGAIN_MS), isUnreachable: true }, isThrottled: false };
}

const isOfTls = ({ code, command }: SmtpAnswers): boolean =>
  code === 'ETLS' || (code === 'ESOCKET' && command === 'CONN') || command === 'STARTTLS';

/** Returns the same result for all recipients of a domain when no server replied. */
function settled(
  recipients: readonly string[],
  { outcome, code, enhanced, text }: Omit<RecipientReply, 'address'>,
): SubmissionReport {
  return {
    replies: recipients.map((address) => ({ address, outcome, code, enhanced, text })),
    isUnreachable: false,
    isFinal: true,
    retryAfterMs: null,
  };
}

/** Merges the reports of several domains. `isUnreachable` is false, because other domains may be reachable. */
function together(reports: readonly SubmissionReport[]): SubmissionReport {
  const longestMs = Math.max(0, ...reports.map(({ retryAfterMs }) => retryAfterMs ?? 0));
  return {
    replies: reports.flatMap(({ replies }) => replies),
    isUnreachable: false,
    isFinal: true,
    retryAfterMs: longestMs === 0 ? null : longestMs,
  };
}
