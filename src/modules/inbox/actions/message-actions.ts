import { Injectable } from '@nestjs/common';
import { messageIdsIn } from '#engine/mail/message-ids.js';
import type { Id } from '#kernel/ids.js';
import { SentEmails } from '#modules/email/sent-emails.js';
import { InboxMetrics } from '../inbox.metrics.js';
import type { Decided, WaitingMessage } from '../reading/waiting-messages.store.js';
import { AutoReplies } from './auto-replies.js';
import { Forwarding } from './forwarding.js';

/** Maximum number of Message-IDs of a thread that are looked up, beginning with the latest. */
const THREAD_MAX = 10;
/**
 * Message-IDs that Posthorn or Amazon SES creates. Only these are looked up, because only they can belong to a sent
 * email.
 */
const OWN_MESSAGE_ID = /^<(?:evt_[0-9A-Za-z]{26}@|[0-9a-f-]{20,80}@(?:[a-z0-9-]+\.)?amazonses\.com>)/;

/**
 * Plans and carries out the actions for a received message: links it to the email that it answers, forwards it, and
 * replies to it. The plan is stored with the decision about the message, and carried out after the event exists. Both
 * steps can be repeated, so that another worker can continue after a crash.
 */
@Injectable()
export class MessageActions {
  constructor(
    private readonly forwarding: Forwarding,
    private readonly autoReplies: AutoReplies,
    private readonly emails: SentEmails,
    private readonly metrics: InboxMetrics,
  ) {}

  /**
   * Returns the decision on the message's delivery, with the planned actions added. Throws 503 while storage is
   * unavailable.
   */
  async plan(message: WaitingMessage, decided: Decided): Promise<Decided> {
    const { obstacles: _known, ...final } = decided;
    const [inReplyToEmailId, forwards, autoReply] = await Promise.all([
      this.answeredEmail(message.environmentId, decided),
      this.forwarding.plan(message, decided),
      this.autoReplies.plan(message, decided),
    ]);
    for (const { emailId, isPending } of forwards ?? [])
      this.metrics.acted(emailId !== null ? 'forwarded' : isPending ? 'forward_pending' : 'forward_skipped');
    if (autoReply !== null) this.metrics.acted(autoReply.emailId === null ? 'not_replied' : 'replied');
    const detail = {
      ...final.detail,
      ...(forwards !== null && { forwards }),
      ...(autoReply !== null && { autoReply }),
    };
    return { ...final, inReplyToEmailId, detail };
  }

  async carryOut(message: WaitingMessage, decided: Decided): Promise<void> {
    await this.forwarding.send(message, decided);
    await this.autoReplies.send(message, decided);
  }

  /** Returns the sent email that a message answers. Looks up In-Reply-To first, and then References, latest first. */
  private async answeredEmail(environmentId: number, { detail }: Decided): Promise<Id | null> {
    const thread = [...messageIdsIn(detail.inReplyTo ?? ''), ...[...detail.references].reverse()];
    const ids = thread.map((id) => (id.startsWith('<') ? id : `<${id}>`));
    const own = ids.filter((id) => OWN_MESSAGE_ID.test(id)).slice(0, THREAD_MAX);
    return own.length === 0 ? null : this.emails.sentAs(environmentId, own);
  }
}
