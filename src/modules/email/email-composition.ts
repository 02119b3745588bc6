import { Injectable } from '@nestjs/common';
import type { Mailbox } from '#engine/mail/addresses.js';
import { isAtSimulator, simulatedRole } from '#engine/mail/simulator.js';
import { Clock } from '#kernel/clock.js';
import { BusyTurns } from '#kernel/concurrency/busy-turns.js';
import { memoizeAsync } from '#kernel/concurrency/memoize-async.js';
import { Config } from '#kernel/config/config.js';
import { type Id, showId } from '#kernel/ids.js';
import type { Tenant } from '#kernel/tenant.js';
import { attachmentAsSent, compose } from '#mail/compose.js';
import type { Submission } from '#modules/ledger/acceptance.contract.js';
import { Topics } from '#modules/topics/topics.js';
import type { AttachmentDraft } from './attachment-draft.js';
import { overallState } from './delivery-events.js';
import type { AttachmentNote, StoredRecipient, TimelineItem } from './email.entities.js';
import { type CompleteDraft, type EmailDraft, recipientsOf } from './email-draft.js';
import { EMAIL_EVENT_TYPE } from './email-event.js';
import { type NewEmail, NOT_SIGNED } from './emails.store.js';
import type { ScheduledRow } from './scheduled-emails.store.js';
import { SenderIdentities, type SenderIdentity } from './sender-identity.js';
import { SuppressionsStore } from './suppressions.store.js';
import { MailTransport } from './transport.contract.js';
import { UnsubscribeLinks } from './unsubscribe-links.js';

/** The HTML converter is loaded on first use, because most installations send no email. */
const textPart = memoizeAsync(() => import('./text-part.js'));

const KINDS = ['to', 'cc', 'bcc'] as const;

export type Named = Pick<NewEmail, 'environmentId' | 'id' | 'expiresOnDay' | 'messageId'>;

@Injectable()
export class EmailComposition {
  constructor(
    private readonly suppressions: SuppressionsStore,
    private readonly topics: Topics,
    private readonly links: UnsubscribeLinks,
    private readonly identities: SenderIdentities,
    private readonly transport: MailTransport,
    private readonly turns: BusyTurns,
    private readonly clock: Clock,
    private readonly config: Config,
  ) {}

  /**
   * Composes and signs an email. Suppressed recipients are marked and get no email. Throws `NotComposed` on failure.
   */
  async make(named: Named, draft: CompleteDraft, identity: SenderIdentity): Promise<{ email: NewEmail; raw: Buffer }> {
    const { from, to, cc, replyTo, subject, attachments } = draft;
    const linked = await this.links.addTo(named, draft);
    const { headers, html } = linked;
    const { textPartOf } = await textPart();
    if (linked.text === null) await this.turns.take();
    const text = textPartOf(linked);
    const date = this.clock.now();
    const raw = await compose(
      { messageId: named.messageId, date, from, to, cc, replyTo, subject, html, text, headers, attachments },
      await this.identities.signer(named.environmentId, identity),
      this.transport,
    );
    const states = await this.recipients(named.environmentId, draft);
    const stored = { sizeBytes: raw.length, attachments: attachmentNotes(draft), signature: null };
    return { raw, email: rowOf(named, draft, identity, states, stored) };
  }

  /**
   * Builds the row of an email that a mail client composed and that is not signed yet. `draft` contains the fields that
   * the API shows, and each recipient once. Suppressed recipients are marked at the first attempt, because no response
   * shows them.
   */
  unsigned(
    named: Named,
    draft: CompleteDraft,
    identity: SenderIdentity,
    { sizeBytes, attachments }: Pick<NewEmail, 'sizeBytes' | 'attachments'>,
  ): NewEmail {
    const at = this.clock.now().toISOString();
    const topicId = draft.unsubscribe?.topicId ?? undefined;
    const recipients = KINDS.flatMap((kind) =>
      draft[kind].map(({ address }): StoredRecipient => ({
        address,
        kind,
        state: 'sending',
        at,
        detail: null,
        ...(topicId !== undefined && { topicId }),
      })),
    );
    const states = { recipients, timeline: [], ...overallState(recipients) };
    return rowOf(named, draft, identity, states, { sizeBytes, attachments, signature: NOT_SIGNED });
  }

  /**
   * Builds the row of an email that cannot be sent and has no raw message. All recipients have failed for the reason in
   * `detail`.
   */
  unsendable(named: Named, draft: CompleteDraft, subtype: string, detail: string): NewEmail {
    return this.withoutMessage(named, draft, { state: 'failed', type: 'rejected', subtype, detail });
  }

  /** Builds the row of a canceled scheduled email, which has no raw message. */
  canceled(named: Named, { draft, isCaptured }: Pick<ScheduledRow, 'draft' | 'isCaptured'>): NewEmail {
    const end = { state: 'canceled', type: 'canceled', subtype: null, detail: null } as const;
    return { ...this.withoutMessage(named, draft, end), isCaptured };
  }

  private withoutMessage(
    named: Named,
    draft: CompleteDraft,
    {
      state,
      type,
      subtype,
      detail,
    }: Pick<StoredRecipient, 'state'> & Pick<TimelineItem, 'type' | 'subtype' | 'detail'>,
  ): NewEmail {
    const at = this.clock.now().toISOString();
    const recipients = recipientsOf(draft).map(({ address, kind }): StoredRecipient => ({
      address,
      kind,
      state,
      at,
      detail,
    }));
    const timeline = recipients.map(({ address }): TimelineItem => ({ type, subtype, at, detail, recipient: address }));
    const states = { recipients, timeline, ...overallState(recipients) };
    const stored = { sizeBytes: 0, attachments: attachmentNotes(draft), signature: null };
    return rowOf(named, draft, { returnPathHost: null, isCaptured: false }, states, stored);
  }

  /** Returns whether every recipient is suppressed now. */
  async isSuppressed(environmentId: number, draft: CompleteDraft): Promise<boolean> {
    return (await this.recipients(environmentId, draft)).status === 'suppressed';
  }

  private async recipients(
    environmentId: number,
    draft: Pick<CompleteDraft, 'to' | 'cc' | 'bcc' | 'unsubscribe'>,
  ): Promise<RecipientStates> {
    const at = this.clock.now().toISOString();
    const named = recipientsOf(draft);
    const suppressed = await this.suppressions.among(
      environmentId,
      named.map(({ key }) => key),
    );
    const topicId = draft.unsubscribe?.topicId ?? undefined;
    const recipients: StoredRecipient[] = [];
    const timeline: TimelineItem[] = [];
    for (const { address, key, kind } of named) {
      const isOnList = isListed(address, suppressed.has(key), this.config.platformDomain);
      const refusal =
        isOnList || topicId === undefined ? null : await this.topics.refusalOf(environmentId, topicId, address);
      const state = isOnList || refusal !== null ? 'suppressed' : 'sending';
      recipients.push({ address, kind, state, at, detail: refusal, ...(topicId !== undefined && { topicId }) });
      if (state === 'suppressed')
        timeline.push({ type: 'rejected', at, recipient: address, ...suppressionNote(refusal) });
    }
    return { recipients, timeline, ...overallState(recipients) };
  }
}

/**
 * Returns whether an address is suppressed. A simulator address is suppressed only if it simulates a suppressed address.
 */
export function isListed(address: string, isOnList: boolean, platformDomain: string): boolean {
  return isAtSimulator(address, platformDomain) ? simulatedRole(address, platformDomain) === 'suppressed' : isOnList;
}

/**
 * Returns why an address gets no email. `refusal` is the reason if a topic excludes the recipient. If it is null, the
 * address is on the suppression list.
 */
export function suppressionNote(refusal: string | null): { subtype: string; detail: string } {
  if (refusal !== null) return { subtype: 'unsubscribed', detail: refusal };
  return { subtype: 'suppressed', detail: 'The address is on the suppression list.' };
}

type RecipientStates = Pick<NewEmail, 'recipients' | 'timeline' | 'status' | 'isOwed'>;

/** Builds an email's row. Lists all fields, because every email needs a row, and spread objects are copied slowly. */
function rowOf(
  { environmentId, id, expiresOnDay, messageId }: Named,
  draft: CompleteDraft,
  { returnPathHost, isCaptured }: Pick<SenderIdentity, 'returnPathHost' | 'isCaptured'>,
  { recipients, timeline, status, isOwed }: RecipientStates,
  { sizeBytes, attachments, signature }: Pick<NewEmail, 'sizeBytes' | 'attachments' | 'signature'>,
): NewEmail {
  const { sender, to, cc, bcc, replyTo, subject, tags, scheduledAt, templateId, templateVersion } = shownOf(draft);
  return {
    environmentId,
    id,
    expiresOnDay,
    sender,
    to,
    cc,
    bcc,
    replyTo,
    subject,
    messageId,
    returnPathHost,
    isCaptured,
    tags,
    attachments,
    sizeBytes,
    recipients,
    timeline,
    status,
    isOwed,
    originalSender: null,
    signature,
    scheduledAt,
    templateId,
    templateVersion,
  };
}

/** Returns the attachments of an email as its row and the API show them. */
export function attachmentNotes({ attachments }: CompleteDraft): AttachmentNote[] {
  return attachments.map(attachmentAsSent).map(({ filename, contentType, content }) => ({
    filename,
    content_type: contentType,
    size_bytes: content.length,
  }));
}

/** Returns the fields of an email that do not change when it is sent. */
export function shownOf(
  draft: CompleteDraft,
): Pick<
  NewEmail,
  'sender' | 'to' | 'cc' | 'bcc' | 'replyTo' | 'subject' | 'tags' | 'scheduledAt' | 'templateId' | 'templateVersion'
> {
  return {
    sender: shown(draft.from),
    to: draft.to.map(shown),
    cc: draft.cc.map(shown),
    bcc: draft.bcc.map(shown),
    replyTo: draft.replyTo.map(shown),
    subject: draft.subject,
    tags: draft.tags,
    scheduledAt: draft.scheduledAt,
    // Scheduled emails that an older version stored have no field `template`.
    templateId: draft.template?.id ?? null,
    templateVersion: draft.template?.version ?? null,
  };
}

/** An email as acceptance policies see it: with the sizes of the attachments instead of their content. */
type RuledDraft = Omit<EmailDraft, 'attachments' | 'template'> & {
  attachments: readonly (Pick<AttachmentDraft, 'filename' | 'contentType'> & {
    source: { bytes: { length: number } } | { url: string };
  })[];
};

/** Returns the submission on which acceptance policies decide. */
export function ruledSubmission(tenant: Tenant, draft: RuledDraft): Submission {
  return {
    kind: 'email',
    tenant,
    to: recipientsOf(draft)
      .map(({ address }) => address)
      .join(','),
    eventType: EMAIL_EVENT_TYPE,
    headers: Object.fromEntries(Object.entries(draft.headers).map(([name, value]) => [name.toLowerCase(), value])),
    payload: payloadOf(draft),
  };
}

/** Returns the fields of an email as JSON, with the API's field names and without the bytes of attachments. */
function payloadOf({
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
  unsubscribe,
}: RuledDraft): string {
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
    ...(unsubscribe !== null && { unsubscribe: unsubscribe.topic === null ? true : unsubscribe }),
    attachments: attachments.map(({ filename, contentType, source }) => ({
      filename,
      content_type: contentType,
      ...('bytes' in source ? { size_bytes: source.bytes.length } : { url: source.url }),
    })),
  });
}

/** Returns the Message-ID. It is derived from the email's id, so it is the same on every attempt. */
export function messageIdOf(id: Id, { domain }: SenderIdentity): string {
  return `<${showId('evt', id)}@${domain}>`;
}

function shown({ name, address }: Mailbox): string {
  if (name === '') return address;
  return /[^\p{L}\p{N} !#$%&'*+/=?^_`{|}~-]/u.test(name)
    ? `"${name.replaceAll(/["\\]/g, '\\$&')}" <${address}>`
    : `${name} <${address}>`;
}
