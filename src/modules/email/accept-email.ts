import { Injectable } from '@nestjs/common';
import { Clock } from '#kernel/clock.js';
import { Database, isStorageAway } from '#kernel/database/database.js';
import { type ApiError, unavailable } from '#kernel/errors.js';
import type { IdempotentRequest, StoredAnswer } from '#kernel/idempotency.js';
import { type Id, Ids, showId } from '#kernel/ids.js';
import { Tracing } from '#kernel/observability/tracing.js';
import type { Tenant } from '#kernel/tenant.js';
import { Retention } from '#modules/auth/environments/retention.js';
import { AcceptancePolicies } from '#modules/ledger/acceptance-policies.js';
import { Ledger } from '#modules/ledger/ledger.js';
import { AttachmentFetch, type FetchAllowance } from './attachment-fetch.js';
import { EmailMetrics } from './email.metrics.js';
import { askedFor, EmailComposition, messageIdOf, shownOf } from './email-composition.js';
import { EmailDestination } from './email-destination.js';
import { type CompleteDraft, type EmailDraft, recipientsOf } from './email-draft.js';
import { EMAIL_EVENT_TYPE, emailEvent } from './email-event.js';
import { EmailGroup } from './email-group.js';
import type { NewEmail, ShownStatus } from './emails.store.js';
import { ScheduledEmailsStore } from './scheduled-emails.store.js';
import { SenderIdentities, type SenderIdentity } from './sender-identity.js';

export interface AcceptedEmail {
  id: Id;
  status: ShownStatus;
}

/** The request's idempotency key, and the response that is stored for it when the email's event is committed. */
export interface AcceptedOnce {
  request: IdempotentRequest;
  answer: (email: AcceptedEmail) => StoredAnswer;
}

/**
 * Accepts emails. An email is composed once and stored before its event is created, in this order: the bytes, the row,
 * the event. Data without an event was not accepted: no list shows it, and the sweeper deletes it. A scheduled email is
 * stored as submitted, with its attachments, and composed later.
 */
@Injectable()
export class AcceptEmail {
  constructor(
    private readonly identities: SenderIdentities,
    private readonly acceptancePolicies: AcceptancePolicies,
    private readonly attachments: AttachmentFetch,
    private readonly composition: EmailComposition,
    private readonly group: EmailGroup,
    private readonly scheduled: ScheduledEmailsStore,
    private readonly destination: EmailDestination,
    private readonly ledger: Ledger,
    private readonly retention: Retention,
    private readonly metrics: EmailMetrics,
    private readonly tracing: Tracing,
    private readonly database: Database,
    private readonly ids: Ids,
    private readonly clock: Clock,
  ) {}

  /**
   * Resolves once the email is committed. Throws 422 for an invalid sender or attachment and for a policy's refusal,
   * AlreadyAnswered or 409 for a used key, and 503 while storage is unavailable.
   */
  async accept(
    tenant: Tenant,
    draft: EmailDraft,
    allowed: FetchAllowance,
    once: AcceptedOnce | null,
  ): Promise<AcceptedEmail> {
    const identity = await this.identities.resolve(tenant, draft.from.address);
    const headers = this.acceptancePolicies.isRuled ? await this.ruledHeaders(tenant, draft) : draft.headers;
    const complete = { ...draft, headers, attachments: await this.attachments.complete(draft.attachments, allowed) };
    const { environmentId } = tenant;
    const id = this.ids.next();
    if (await this.isForLater(environmentId, draft)) return this.schedule(environmentId, id, complete, identity);
    const named = {
      environmentId,
      id,
      expiresOnDay: await this.retention.expiresOnDay(environmentId, id),
      messageId: messageIdOf(id, identity),
    };
    const { email, raw } = await this.composition.make(named, complete, identity);
    await this.group.add({ email, raw });
    await this.makeEvent(email, once);
    this.metrics.accepted();
    return { id, status: email.status };
  }

  /** Runs before anything is fetched. Policies' headers replace the caller's headers with the same name in any case. */
  private async ruledHeaders(tenant: Tenant, draft: EmailDraft): Promise<Record<string, string>> {
    const headers = Object.fromEntries(
      Object.entries(draft.headers).map(([name, value]) => [name.toLowerCase(), value]),
    );
    const to = recipientsOf(draft)
      .map(({ address }) => address)
      .join(',');
    const added = await this.acceptancePolicies.rule({
      kind: 'email',
      tenant,
      to,
      eventType: EMAIL_EVENT_TYPE,
      headers,
      payload: askedFor(draft),
    });
    if (added === null) return draft.headers;
    return {
      ...Object.fromEntries(
        Object.entries(draft.headers).filter(([name]) => !Object.hasOwn(added, name.toLowerCase())),
      ),
      ...added,
    };
  }

  /** Also returns false if the email has no recipients left, because that is reported immediately. */
  private async isForLater(environmentId: number, draft: EmailDraft): Promise<boolean> {
    if (draft.scheduledAt === null || draft.scheduledAt.getTime() <= this.clock.nowMs()) return false;
    return !(await this.composition.isSuppressed(environmentId, draft));
  }

  /** Commits with the request's idempotency key, if any: the HTTP layer then provides a transaction. */
  private async schedule(
    environmentId: number,
    id: Id,
    draft: CompleteDraft,
    identity: SenderIdentity,
  ): Promise<AcceptedEmail> {
    const { sender, to, subject } = shownOf(draft);
    const email = {
      environmentId,
      id,
      messageId: messageIdOf(id, identity),
      isCaptured: identity.isCaptured,
      sender,
      to,
      subject,
      draft,
    };
    try {
      await this.database.transaction(() => this.scheduled.add(email));
    } catch (error) {
      throw isStorageAway(error) ? away() : error;
    }
    this.metrics.accepted();
    return { id, status: 'scheduled' };
  }

  private async makeEvent(email: NewEmail, once: AcceptedOnce | null): Promise<void> {
    const { environmentId, id, status } = email;
    const targetId = await this.destination.forEnvironment(environmentId);
    const span = this.tracing.startAccept(undefined, EMAIL_EVENT_TYPE);
    const idempotency = once && { request: once.request, ...once.answer({ id, status }) };
    await this.ledger.accept(emailEvent(email, targetId, { traceparent: span.traceparent, idempotency }));
    span.end('accepted', () => ({ 'messaging.message.id': showId('msg', id) }));
  }
}

const away = (): ApiError => unavailable('Storage is not reachable. Nothing was accepted, try again.');
