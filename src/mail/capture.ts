import {
  MailTransport,
  type RecipientReply,
  type Submission,
  type SubmissionReport,
} from '#modules/email/transport.contract.js';
import { type IncomingBytes, incomingBytes, IncomingMail, type SmtpAnswer } from '#modules/inbox/contract.js';

const CAPTURED = {
  outcome: 'accepted',
  code: 250,
  enhanced: '2.0.0',
  text: 'Captured: EMAIL_TRANSPORT sends nothing out.',
} as const;

/**
 * The `capture:` transport (the default) sends no mail to other servers. Messages are stored as if sent, and mail to
 * aliases of this installation is received as if over SMTP.
 */
export class CaptureTransport extends MailTransport {
  constructor(private readonly mail: IncomingMail) {
    super();
  }

  override offersSmtpUtf8(): Promise<boolean> {
    return Promise.resolve(true);
  }

  async submit({ raw, mailFrom, recipients }: Submission): Promise<SubmissionReport> {
    const bytes = incomingBytes(raw);
    const replies = await Promise.all(recipients.map((address) => this.captured(address, mailFrom([address]), bytes)));
    return { replies, isUnreachable: false, isFinal: true, retryAfterMs: null };
  }

  private async captured(address: string, from: string, bytes: IncomingBytes): Promise<RecipientReply> {
    const verdict = await this.mail.recipient(address, bytes.sizeBytes);
    // A temporary refusal means that Posthorn could not find out whether the address is an alias of this installation.
    // The sender receives a temporary error and retries, so the message is not lost.
    if (verdict.kind === 'refused' && verdict.answer.code < 500) return replyOf(address, verdict.answer);
    if (verdict.kind !== 'alias') return { address, ...CAPTURED };
    return replyOf(
      address,
      await this.mail.accept(
        { from, recipients: [{ ...verdict, address }], clientIp: '127.0.0.1', helo: 'localhost', tls: null },
        bytes,
      ),
    );
  }
}

function replyOf(address: string, { code, enhanced, text }: SmtpAnswer): RecipientReply {
  return {
    address,
    outcome: code < 300 ? 'accepted' : code < 500 ? 'deferred' : 'failed',
    code,
    enhanced,
    text: `${code} ${enhanced} ${text}`,
  };
}
