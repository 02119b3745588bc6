import { Injectable } from '@nestjs/common';
import { Retention } from '#modules/auth/contract.js';
import { Ledger } from '#modules/ledger/accept.contract.js';
import { KeptDays } from '#modules/ledger/kept-days.contract.js';
import type { Mailbox } from '#engine/mail/addresses.js';
import type { EmailStatus } from '#engine/mail/recipient-state.js';
import { isAtSimulator, simulatedRole } from '#engine/mail/simulator.js';
import { Clock } from '#kernel/clock.js';
import { Config } from '#kernel/config.js';
import { isStorageAway, sqlState } from '#kernel/database.js';
import { ApiError, unavailable } from '#kernel/errors.js';
import type { IdempotentRequest, StoredAnswer } from '#kernel/idempotency.js';
import { type Id, Ids, showId } from '#kernel/ids.js';
import type { Tenant } from '#kernel/tenant.js';
import { Tracing } from '#kernel/tracing.js';
import { compose, type ComposedAttachment } from '#mail/compose.js';
import { AttachmentFetch } from './attachment-fetch.js';
import { EmailDestination } from './email-destination.js';
import { type EmailDraft, recipientsOf } from './email-draft.js';
import { EmailMetrics } from './email.metrics.js';
import { EmailsStore, type NewEmail, type StoredRecipient, type TimelineItem } from './emails.store.js';
import { overallOf } from './facts.js';
import { RawEmails } from './raw-emails.js';
import { SenderIdentities, type SenderIdentity } from './sender-identity.js';
import { SuppressionsStore } from './suppressions.store.js';

/** The type of the event that an email is. */
export const EMAIL_EVENT_TYPE = 'email.send';

const NO_PARTITION = '23514';

/** An email that was accepted. */
export interface AcceptedEmail {
  id: Id;
  status: EmailStatus;
}

/** The key of the request, and what is kept for it from the commit of the email's event on. */
export interface AcceptedOnce {
  request: IdempotentRequest;
  answer: (email: AcceptedEmail) => StoredAnswer;
}

/**
 * Accepts emails: composed once, stored, and only then made an event. In this order: the bytes, the row, the event. What was
 * stored without its event was not accepted; it is in no list, and the sweeper removes it.
 */
@Injectable()
export class AcceptEmail {
  constructor(
    private readonly identities: SenderIdentities,
    private readonly attachments: AttachmentFetch,
    private readonly suppressions: SuppressionsStore,
    private readonly raw: RawEmails,
    private readonly emails: EmailsStore,
    private readonly destination: EmailDestination,
    private readonly ledger: Ledger,
    private readonly days: KeptDays,
    private readonly retention: Retention,
    private readonly metrics: EmailMetrics,
    private readonly tracing: Tracing,
    private readonly ids: Ids,
    private readonly clock: Clock,
    private readonly config: Config,
  ) {}

  /** Resolves once it is committed. Throws 422 for a sender or an attachment that can't be, AlreadyAnswered or 409 for a used key, 503 while storage is away. */
  async accept(tenant: Tenant, draft: EmailDraft, once: AcceptedOnce | null): Promise<AcceptedEmail> {
    const identity = await this.identities.of(tenant, draft.from.address);
    const attachments = await this.attachments.complete(draft.attachments);
    const id = this.ids.next();
    const { environmentId } = tenant;
    const messageId = `<${showId('evt', id)}@${identity.dkim.domain}>`;
    const { from, to, cc, replyTo, subject, html, text, headers } = draft;
    const raw = await compose({ messageId, date: this.clock.now(), from, to, cc, replyTo, subject, html, text, headers, attachments }, identity.dkim);
    const expiresOnDay = await this.retention.expiresOnDay(environmentId, id);
    const email = await this.row({ environmentId, id, expiresOnDay, messageId, sizeBytes: raw.length }, draft, identity, attachments);
    await this.store(email, raw);
    await this.makeEvent(email, once);
    this.metrics.accepted();
    return { id, status: email.status };
  }

  /** Both may be repeated. A row that has no partition is one of a retention that was raised a moment ago. */
  private async store(email: NewEmail, raw: Buffer, isRepeated = false): Promise<void> {
    try {
      await this.raw.put(email.environmentId, email.id, email.expiresOnDay, raw);
      await this.emails.insert(email);
    } catch (error) {
      if (error instanceof ApiError) throw error;
      if (isStorageAway(error)) throw unavailable('Storage is not reachable. Nothing was accepted, try again.');
      if (sqlState(error) !== NO_PARTITION || isRepeated) throw error;
      await this.days.ensure();
      await this.raw.remove(email.environmentId, email.id);
      await this.store(email, raw, true);
    }
  }

  private async makeEvent(email: NewEmail, once: AcceptedOnce | null): Promise<void> {
    const { environmentId, id, expiresOnDay, status } = email;
    const targetId = await this.destination.of(environmentId);
    const span = this.tracing.startAccept(undefined, EMAIL_EVENT_TYPE);
    const payload = payloadOf(email);
    await this.ledger.accept({
      environmentId, id, expiresOnDay, targetId, url: null, eventType: EMAIL_EVENT_TYPE, headers: null, traceparent: span.traceparent,
      payload, payloadBytes: Buffer.byteLength(payload), pulled: false, ratePerSecond: null, concurrency: null,
      idempotency: once && { request: once.request, ...once.answer({ id, status }) },
    });
    span.end('accepted', () => ({ 'messaging.message.id': showId('msg', id) }));
  }

  private async row(known: Known, draft: EmailDraft, identity: SenderIdentity, attachments: readonly ComposedAttachment[]): Promise<NewEmail> {
    const at = this.clock.now().toISOString();
    const named = recipientsOf(draft);
    const suppressed = await this.suppressions.among(known.environmentId, named.map(({ key }) => key));
    const recipients = named.map(({ address, key, kind }): StoredRecipient =>
      ({ address, kind, state: this.isSuppressed(address, suppressed.has(key)) ? 'suppressed' : 'sending', at, detail: null }));
    const timeline = recipients.filter(({ state }) => state === 'suppressed').map(({ address }): TimelineItem =>
      ({ type: 'rejected', subtype: 'suppressed', at, detail: 'The address is on the suppression list.', recipient: address }));
    const { returnPathHost, isCaptured } = identity;
    return {
      ...known, sender: shown(draft.from), to: draft.to.map(shown), cc: draft.cc.map(shown), bcc: draft.bcc.map(shown), replyTo: draft.replyTo.map(shown),
      subject: draft.subject, tags: draft.tags, returnPathHost, isCaptured, recipients, timeline, ...overallOf(recipients),
      attachments: attachments.map(({ filename, contentType, content }) => ({ filename, content_type: contentType, size_bytes: content.length })),
    };
  }

  /** The simulator's addresses play their part, whatever is on the list. */
  private isSuppressed(address: string, isListed: boolean): boolean {
    const { platformDomain } = this.config;
    return isAtSimulator(address, platformDomain) ? simulatedRole(address, platformDomain) === 'suppressed' : isListed;
  }
}

/** What is known of an email before its row. */
type Known = Pick<NewEmail, 'environmentId' | 'id' | 'expiresOnDay' | 'messageId' | 'sizeBytes'>;

/** An address as people write it. */
function shown({ name, address }: Mailbox): string {
  if (name === '') return address;
  return /[^\p{L}\p{N} !#$%&'*+/=?^_`{|}~-]/u.test(name) ? `"${name.replaceAll(/["\\]/g, '\\$&')}" <${address}>` : `${name} <${address}>`;
}

/** What the list of events shows of it: whom it is from and to, and not what it says. */
function payloadOf({ id, sender, to, cc, bcc, replyTo, subject, messageId }: NewEmail): string {
  return JSON.stringify({ email: showId('evt', id), from: sender, to, cc, bcc, reply_to: replyTo, subject, message_id: messageId });
}
