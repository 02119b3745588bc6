import { createHash } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import type { Mailbox } from '#engine/mail/addresses.js';
import { Clock } from '#kernel/clock.js';
import { AlreadyAnswered } from '#kernel/idempotency.js';
import { type Id, idBytes, idFromBytes, showId } from '#kernel/ids.js';
import { AcceptEmail } from './accept-email.js';
import type { AttachmentNote } from './email.entities.js';
import { EmailComposition, messageIdOf } from './email-composition.js';
import type { ComposedEmail } from './email-inserts.js';
import { EmailsStore } from './emails.store.js';
import type { SenderIdentity } from './sender-identity.js';

/** Names of the tags with which a sent email refers to the received message. */
const FORWARDED_TAG = 'forwarded_message';
const REPLY_TAG = 'auto_reply_to';

/** A received message that Posthorn forwards or replies to. */
export interface CausingMessage {
  environmentId: number;
  id: Id;
  expiresOnDay: number;
}

export interface ForwardedCopy {
  address: string;
  from: string;
  subject: string;
  /** Message-ID of the received message. Empty if the message has none. */
  messageId: string;
  /** Envelope sender of the message. Empty for the null sender. */
  originalSender: string;
  attachments: AttachmentNote[];
  /** The message, including headers added by the forwarding server. */
  raw: Buffer;
}

export interface AutomaticReply {
  from: Mailbox;
  to: Mailbox;
  subject: string;
  text: string | null;
  html: string | null;
  headers: Record<string, string>;
}

/**
 * Returns the id of a forwarded copy or an automatic reply. The id is derived from the received message and the
 * purpose, so that a retry after a crash sends no second email. The id contains the time of the received message, so
 * that both expire together.
 */
export function followUpId(messageId: Id, purpose: string): Id {
  const time = idBytes(messageId).subarray(0, 6);
  const rest = createHash('sha256').update(`${messageId} ${purpose}`).digest().subarray(0, 10);
  return idFromBytes(Buffer.concat([time, rest]));
}

/** Forwards received messages, and sends automatic replies to them. Safe to repeat. */
@Injectable()
export class FollowUpEmails {
  constructor(
    private readonly composition: EmailComposition,
    private readonly emails: EmailsStore,
    private readonly accepting: AcceptEmail,
    private readonly clock: Clock,
  ) {}

  /**
   * Forwards a message to one address. Each delivery attempt checks whether the address is suppressed. Throws 503 while
   * storage is unavailable.
   */
  async forward(
    { environmentId, id: messageId, expiresOnDay }: CausingMessage,
    id: Id,
    { address, from, subject, messageId: header, originalSender, attachments, raw }: ForwardedCopy,
    { returnPathHost, isCaptured }: Pick<SenderIdentity, 'returnPathHost' | 'isCaptured'>,
  ): Promise<void> {
    const at = this.clock.now().toISOString();
    await this.send({
      raw,
      email: {
        environmentId,
        id,
        expiresOnDay,
        sender: from,
        to: [address],
        cc: [],
        bcc: [],
        replyTo: [],
        subject,
        messageId: header,
        returnPathHost,
        isCaptured,
        originalSender,
        signature: null,
        tags: [{ name: FORWARDED_TAG, value: showId('evt', messageId) }],
        attachments,
        sizeBytes: raw.length,
        recipients: [{ address, kind: 'to', state: 'sending', at, detail: null }],
        timeline: [],
        status: 'sending',
        isOwed: true,
        scheduledAt: null,
        templateId: null,
        templateVersion: null,
      },
    });
  }

  /** Sends an automatic reply. Throws `NotComposed`, and 503 while storage is unavailable. */
  async reply(
    { environmentId, id: messageId, expiresOnDay }: CausingMessage,
    id: Id,
    { from, to, ...content }: AutomaticReply,
    identity: SenderIdentity,
  ): Promise<void> {
    const draft = {
      ...content,
      from,
      to: [to],
      cc: [],
      bcc: [],
      replyTo: [],
      attachments: [],
      tags: [{ name: REPLY_TAG, value: showId('evt', messageId) }],
      scheduledAt: null,
      template: null,
    };
    const named = { environmentId, id, expiresOnDay, messageId: messageIdOf(id, identity) };
    await this.send(await this.composition.make(named, draft, identity));
  }

  private async send(composed: ComposedEmail): Promise<void> {
    const { environmentId, id } = composed.email;
    // A late retry must check whether the email exists, because the idempotency key expires before the email.
    if ((await this.emails.find(environmentId, id)) !== null) return;
    const fingerprint = createHash('sha256').update(id).digest();
    const request = { environmentId, route: 'follow-up email', key: id, fingerprint };
    try {
      await this.accepting.commit(composed, { request, answer: () => ({ status: 202, body: id }) });
    } catch (error) {
      if (!(error instanceof AlreadyAnswered)) throw error;
    }
  }
}
