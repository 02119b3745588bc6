import type { SMTPServerDataStream, SMTPServerSession } from 'smtp-server';
import { isLooping } from '#engine/mail/mail-loops.js';
import { fieldsOf } from '#engine/mail/message-head.js';
import { type AcceptedRecipient, IncomingMail, type SmtpAnswer } from '#modules/inbox/contract.js';
import type { Conversation } from './conversations.js';
import type { SmtpLimits } from './limits.js';
import { withSpooled } from './spool.js';

const TOO_LARGE: SmtpAnswer = { code: 552, enhanced: '5.3.4', text: 'The message is too large.' };
const LOOP: SmtpAnswer = { code: 554, enhanced: '5.4.6', text: 'The message is in a mail loop.' };
const NOBODY: SmtpAnswer = { code: 554, enhanced: '5.5.1', text: 'No valid recipients.' };

export interface Taken {
  answer: SmtpAnswer;
  sizeBytes: number;
}

/** Receives messages. Uses no database connection until a message has arrived completely. */
export class Reception {
  constructor(
    private readonly mail: IncomingMail,
    private readonly limits: Pick<SmtpLimits, 'messageBytes'>,
    private readonly ownName: string,
    private readonly nowMs: () => number,
  ) {}

  /** Receives a message and returns the reply to it. Rejects only if the client disconnects during the message. */
  async take(stream: SMTPServerDataStream, session: SMTPServerSession, conversation: Conversation): Promise<Taken> {
    const recipients = recipientsOf(session, conversation);
    return withSpooled(stream, conversation, this.limits.messageBytes, this.nowMs, async (spooled) => {
      if (spooled === null) return { answer: TOO_LARGE, sizeBytes: stream.byteLength };
      const { sizeBytes } = spooled;
      if (recipients.length === 0) return { answer: NOBODY, sizeBytes };
      if (isLooping(fieldsOf(spooled.head), this.ownName)) return { answer: LOOP, sizeBytes };
      const answer = await this.mail.accept(
        {
          from: session.envelope.mailFrom === false ? '' : session.envelope.mailFrom.address,
          recipients,
          clientIp: session.remoteAddress,
          helo: session.hostNameAppearsAs || '',
          tls: session.tlsOptions === false ? null : `${session.tlsOptions.version} ${session.tlsOptions.name}`,
        },
        spooled,
      );
      return { answer, sizeBytes };
    });
  }
}

/** Returns the recipients without duplicates. */
function recipientsOf(session: SMTPServerSession, { recipients }: Conversation): AcceptedRecipient[] {
  return session.envelope.rcptTo
    .map(({ address }) => recipients.get(address.toLowerCase()))
    .filter((recipient) => recipient !== undefined);
}
