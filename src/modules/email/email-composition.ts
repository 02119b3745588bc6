import { Injectable } from '@nestjs/common';
import type { Mailbox } from '#engine/mail/addresses.js';
import { isAtSimulator, simulatedRole } from '#engine/mail/simulator.js';
import { Clock } from '#kernel/clock.js';
import { Config } from '#kernel/config/config.js';
import { type Id, showId } from '#kernel/ids.js';
import { compose } from '#mail/compose.js';
import { overallState } from './delivery-events.js';
import type { StoredRecipient, TimelineItem } from './email.entities.js';
import { type CompleteDraft, type EmailDraft, recipientsOf } from './email-draft.js';
import type { NewEmail } from './emails.store.js';
import type { SenderIdentity } from './sender-identity.js';
import { SuppressionsStore } from './suppressions.store.js';
import { MailTransport } from './transport.contract.js';

export type Named = Pick<NewEmail, 'environmentId' | 'id' | 'expiresOnDay' | 'messageId'>;

@Injectable()
export class EmailComposition {
  constructor(
    private readonly suppressions: SuppressionsStore,
    private readonly transport: MailTransport,
    private readonly clock: Clock,
    private readonly config: Config,
  ) {}

  /** Composes and signs an email. Recipients that are suppressed now do not receive it. Throws NotComposed. */
  async make(named: Named, draft: CompleteDraft, identity: SenderIdentity): Promise<{ email: NewEmail; raw: Buffer }> {
    const { from, to, cc, replyTo, subject, html, text, headers, attachments } = draft;
    const date = this.clock.now();
    const raw = await compose(
      { messageId: named.messageId, date, from, to, cc, replyTo, subject, html, text, headers, attachments },
      identity.dkim,
      this.transport,
    );
    const { returnPathHost, isCaptured } = identity;
    return {
      raw,
      email: {
        ...named,
        ...shownOf(draft),
        ...(await this.recipients(named.environmentId, draft)),
        sizeBytes: raw.length,
        returnPathHost,
        isCaptured,
      },
    };
  }

  /** Builds an email without a raw message. All its recipients have failed for the reason in `detail`. */
  unsendable(named: Named, draft: CompleteDraft, subtype: string, detail: string): NewEmail {
    const at = this.clock.now().toISOString();
    const recipients = recipientsOf(draft).map(({ address, kind }): StoredRecipient => ({
      address,
      kind,
      state: 'failed',
      at,
      detail,
    }));
    const timeline = recipients.map(({ address }): TimelineItem => ({
      type: 'rejected',
      subtype,
      at,
      detail,
      recipient: address,
    }));
    return {
      ...named,
      ...shownOf(draft),
      recipients,
      timeline,
      ...overallState(recipients),
      sizeBytes: 0,
      returnPathHost: null,
      isCaptured: false,
    };
  }

  /** True if every recipient is suppressed now. */
  async isSuppressed(environmentId: number, draft: EmailDraft): Promise<boolean> {
    return (await this.recipients(environmentId, draft)).status === 'suppressed';
  }

  private async recipients(
    environmentId: number,
    draft: Pick<EmailDraft, 'to' | 'cc' | 'bcc'>,
  ): Promise<Pick<NewEmail, 'recipients' | 'timeline' | 'status' | 'isOwed'>> {
    const at = this.clock.now().toISOString();
    const named = recipientsOf(draft);
    const suppressed = await this.suppressions.among(
      environmentId,
      named.map(({ key }) => key),
    );
    const recipients = named.map(({ address, key, kind }): StoredRecipient => ({
      address,
      kind,
      state: this.isListed(address, suppressed.has(key)) ? 'suppressed' : 'sending',
      at,
      detail: null,
    }));
    const timeline = recipients
      .filter(({ state }) => state === 'suppressed')
      .map(({ address }): TimelineItem => ({
        type: 'rejected',
        subtype: 'suppressed',
        at,
        detail: 'The address is on the suppression list.',
        recipient: address,
      }));
    return { recipients, timeline, ...overallState(recipients) };
  }

  /** Simulator addresses behave according to their role, regardless of the suppression list. */
  private isListed(address: string, isListed: boolean): boolean {
    const { platformDomain } = this.config;
    return isAtSimulator(address, platformDomain) ? simulatedRole(address, platformDomain) === 'suppressed' : isListed;
  }
}

export function shownOf(
  draft: CompleteDraft,
): Pick<NewEmail, 'sender' | 'to' | 'cc' | 'bcc' | 'replyTo' | 'subject' | 'tags' | 'attachments' | 'scheduledAt'> {
  return {
    sender: shown(draft.from),
    to: draft.to.map(shown),
    cc: draft.cc.map(shown),
    bcc: draft.bcc.map(shown),
    replyTo: draft.replyTo.map(shown),
    subject: draft.subject,
    tags: draft.tags,
    scheduledAt: draft.scheduledAt,
    attachments: draft.attachments.map(({ filename, contentType, content }) => ({
      filename,
      content_type: contentType,
      size_bytes: content.length,
    })),
  };
}

/** Returns an email in the form for acceptance policies: the API's field names, without the bytes of attachments. */
export function askedFor({
  from,
  to,
  cc,
  bcc,
  replyTo,
  subject,
  html,
  text,
  headers,
  tags,
  attachments,
  scheduledAt,
}: EmailDraft): string {
  return JSON.stringify({
    from: shown(from),
    to: to.map(shown),
    cc: cc.map(shown),
    bcc: bcc.map(shown),
    reply_to: replyTo.map(shown),
    subject,
    html,
    text,
    headers,
    tags,
    scheduled_at: scheduledAt,
    attachments: attachments.map(({ filename, contentType, source }) => ({
      filename,
      content_type: contentType,
      ...('bytes' in source ? { size_bytes: source.bytes.length } : { url: source.url }),
    })),
  });
}

/** The Message-ID is derived from the email's id, so that it never changes. */
export function messageIdOf(id: Id, { dkim }: SenderIdentity): string {
  return `<${showId('evt', id)}@${dkim.domain}>`;
}

function shown({ name, address }: Mailbox): string {
  if (name === '') return address;
  return /[^\p{L}\p{N} !#$%&'*+/=?^_`{|}~-]/u.test(name)
    ? `"${name.replaceAll(/["\\]/g, '\\$&')}" <${address}>`
    : `${name} <${address}>`;
}
