import { Injectable, Logger } from '@nestjs/common';
import { domainOf, suppressionKey } from '#engine/mail/addresses.js';
import { type NoReplyReason, repliedAddress } from '#engine/mail/auto-reply.js';
import { durationMs } from '#engine/mail/iso-duration.js';
import { messageIdsIn } from '#engine/mail/message-ids.js';
import { Config } from '#kernel/config/config.js';
import { ApiError } from '#kernel/errors.js';
import { showId } from '#kernel/ids.js';
import { NotComposed } from '#mail/compose.js';
import { Environments } from '#modules/auth/environments/environments.js';
import { FollowUpEmails, followUpId } from '#modules/email/follow-up-emails.js';
import { SenderIdentities, type SenderIdentity } from '#modules/email/sender-identity.js';
import type { PlannedReply } from '../messages/message-detail.js';
import type { Decided, WaitingMessage } from '../reading/waiting-messages.store.js';
import { AutoRepliesStore } from './auto-replies.store.js';

const REFERENCES_MAX = 20;
const MESSAGE_ID = /^<[\x21-\x3b\x3d\x3f-\x7e]{1,250}>$/;

const NOTES: Readonly<Record<NoReplyReason | 'recent' | 'limit', string>> = {
  null_sender: 'It has no sender.',
  sender_is_a_machine: 'Its sender is an address that no person reads.',
  automatic_message: 'It is an automatic message.',
  list_message: 'It came through a mailing list, or is mail in bulk.',
  not_addressed: 'Neither To nor Cc names the alias.',
  auth_failed: 'The verification of its author failed.',
  recent: 'The sender has already got a reply in this period.',
  limit: `The alias has sent ${AutoRepliesStore.HOURLY_MAX} automatic replies in the last hour.`,
};

/** Replies automatically to messages, as RFC 3834 requires. */
@Injectable()
export class AutoReplies {
  private readonly logger = new Logger('Automatic replies');

  constructor(
    private readonly store: AutoRepliesStore,
    private readonly emails: FollowUpEmails,
    private readonly identities: SenderIdentities,
    private readonly environments: Environments,
    private readonly config: Config,
  ) {}

  /**
   * Plans a reply, or returns the reason for sending none. Null if the alias has no automatic reply. A planned reply
   * starts the period in which the sender gets no further reply.
   */
  async plan(message: WaitingMessage, decided: Decided): Promise<PlannedReply | null> {
    const { autoReply, environmentId, aliasId, id, envelopeFrom } = message;
    if (autoReply === null) return null;
    const reason = await this.obstacle(message, decided);
    if (reason !== null) return { emailId: null, detail: reason };
    const sender = suppressionKey(repliedAddress(envelopeFrom));
    const periodMs = durationMs(autoReply.oncePer) ?? 0;
    const claimed = await this.store.claim({ environmentId, aliasId, sender, messageId: id, periodMs });
    return claimed === 'claimed'
      ? { emailId: followUpId(id, 'reply'), detail: null }
      : { emailId: null, detail: NOTES[claimed] };
  }

  /** Sends the planned reply. Safe to repeat. Throws 503 while storage is unavailable. */
  async send(message: WaitingMessage, { detail }: Decided): Promise<void> {
    const emailId = detail.autoReply?.emailId ?? null;
    const { autoReply: settings, messageId } = message;
    if (emailId === null || settings === null) return;
    const from = { name: settings.fromName ?? '', address: replyAddress(message) };
    const answered = messageIdsIn(messageId ?? '').slice(0, 1);
    const thread = [...detail.references, ...answered].filter((id) => MESSAGE_ID.test(id)).slice(-REFERENCES_MAX);
    const headers = {
      'Auto-Submitted': 'auto-replied',
      'X-Auto-Response-Suppress': 'All',
      ...(answered.length > 0 && { 'In-Reply-To': answered[0] }),
      ...(thread.length > 0 && { References: thread.join(' ') }),
    } as Record<string, string>;
    const { subject, text, html } = settings;
    const reply = {
      from,
      to: { name: '', address: repliedAddress(message.envelopeFrom) },
      subject,
      text,
      html,
      headers,
    };
    try {
      await this.emails.reply(message, emailId, reply, await this.identity(message, from.address));
    } catch (error) {
      // Composition and validation errors mean that the domain or the settings changed after the reply was planned. A
      // retry would fail again.
      if (!(error instanceof NotComposed) && !(error instanceof ApiError && error.type === 'validation_failed'))
        throw error;
      this.logger.warn(`The reply to ${showId('evt', message.id)} was not sent: ${error.message}`);
    }
  }

  private async obstacle(message: WaitingMessage, { reason, detail, obstacles }: Decided): Promise<string | null> {
    if (reason !== null) return 'A quarantined message gets no reply.';
    if (detail.isParked || obstacles === undefined) return 'The message could not be read.';
    if (obstacles.reply !== null) return NOTES[obstacles.reply];
    try {
      const { isPaused } = await this.identity(message, replyAddress(message));
      return isPaused ? 'The domain of the alias is paused.' : null;
    } catch (error) {
      if (error instanceof ApiError && error.type === 'validation_failed')
        return 'The domain of the alias is not enabled for sending.';
      throw error;
    }
  }

  private async identity({ environmentId }: WaitingMessage, from: string): Promise<SenderIdentity> {
    const { mode } = await this.environments.get(environmentId);
    const tenant = { environmentId, mode };
    return domainOf(from) === this.config.platformDomain
      ? this.identities.forwarder(tenant, domainOf(from))
      : this.identities.resolve(tenant, from);
  }
}

/** Returns the sender of a reply: the alias or, if the alias is a pattern, the address that the message was sent to. */
function replyAddress({ address, envelopeTo }: WaitingMessage): string {
  return address.includes('*') ? suppressionKey(envelopeTo[0] ?? address) : address;
}
