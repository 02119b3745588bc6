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
import { EmailChecks } from './email-checks.js';
import { EmailComposition, messageIdOf, ruledSubmission, shownOf } from './email-composition.js';
import { EmailDestination } from './email-destination.js';
import type { CompleteDraft, EmailDraft, InvalidDraft } from './email-draft.js';
import { EMAIL_EVENT_TYPE, emailEvent } from './email-event.js';
import { type ComposedEmail, EmailInserts } from './email-inserts.js';
import type { ShownStatus } from './emails.store.js';
import { refuseUnlessDeliverable } from './international-addresses.js';
import { ScheduledEmailsStore } from './scheduled-emails.store.js';
import { refusePaused, SenderIdentities, type SenderIdentity } from './sender-identity.js';
import { MailTransport } from './transport.contract.js';
import { UnsubscribeLinks } from './unsubscribe-links.js';

export interface AcceptedEmail {
  id: Id;
  status: ShownStatus;
}

/** A request's idempotency key, and the response to store with the key when the email's event is committed. */
export interface AcceptedOnce {
  request: IdempotentRequest;
  answer: (email: AcceptedEmail) => StoredAnswer;
}

/** A composed email that is not accepted yet. */
export interface PreparedEmail {
  email: AcceptedEmail;
  /** Stores a message that cannot be stored in the caller's transaction. Call it before `acceptWithin`. */
  storeSeparately: () => Promise<void>;
  /** Stores the email and its event in the caller's transaction. */
  acceptWithin: () => Promise<void>;
}

/**
 * Accepts emails. An email is composed once. Its row and its event are stored in one commit. The raw message is stored
 * in the same commit, or before it. If the event is missing, the email is not accepted, and no list shows it. A
 * scheduled email is stored as submitted, with its attachments, and composed later.
 */
@Injectable()
export class AcceptEmail {
  constructor(
    private readonly identities: SenderIdentities,
    private readonly links: UnsubscribeLinks,
    private readonly acceptancePolicies: AcceptancePolicies,
    private readonly attachments: AttachmentFetch,
    private readonly composition: EmailComposition,
    private readonly transport: MailTransport,
    private readonly inserts: EmailInserts,
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
   * Accepts an email, and resolves once the email is committed. Throws 422 for an invalid or paused sender, an invalid
   * topic or attachment, or an email that a policy rejects. Throws `AlreadyAnswered` or 409 for a used idempotency key,
   * and 503 while storage is unavailable.
   */
  async accept(
    tenant: Tenant,
    draft: EmailDraft,
    allowed: FetchAllowance,
    once: AcceptedOnce | null,
  ): Promise<AcceptedEmail> {
    const { complete, identity } = await this.complete(tenant, draft, allowed, new EmailChecks(false));
    const { environmentId } = tenant;
    const id = this.ids.next();
    if (await this.isForLater(environmentId, complete)) return this.schedule(environmentId, id, complete, identity);
    return this.commit(await this.compose(environmentId, id, complete, identity), once);
  }

  /** Stores a composed email and its event. Resolves once both are committed. */
  async commit(composed: ComposedEmail, once: AcceptedOnce | null): Promise<AcceptedEmail> {
    const { email } = composed;
    const { environmentId, id, status } = email;
    await this.inserts.storeSeparately(composed);
    const row = this.inserts.rowOf(composed);
    const targetId = await this.destination.forEnvironment(environmentId);
    const span = this.tracing.startAccept(undefined, EMAIL_EVENT_TYPE);
    const idempotency = once && { request: once.request, ...once.answer({ id, status }) };
    const event = emailEvent(email, targetId, { traceparent: span.traceparent, idempotency, row });
    await span.during(this.ledger.accept(event)).catch((error: unknown) => {
      this.inserts.forget(email);
      throw error;
    });
    span.end('accepted', () => ({ 'messaging.message.id': showId('msg', id) }));
    this.metrics.accepted();
    return { id, status };
  }

  /**
   * Composes an email to send now, without accepting it. Throws the same errors as `accept`, but 422 with the errors of
   * all fields and all checks.
   */
  async prepare(tenant: Tenant, draft: EmailDraft | InvalidDraft, allowed: FetchAllowance): Promise<PreparedEmail> {
    const checks = new EmailChecks(true, 'faults' in draft ? draft.faults : []);
    const { complete, identity } = await this.complete(tenant, draft, allowed, checks);
    const { environmentId } = tenant;
    const composed = await this.compose(environmentId, this.ids.next(), complete, identity);
    const { email } = composed;
    return {
      email: { id: email.id, status: email.status },
      storeSeparately: () => this.inserts.storeSeparately(composed),
      acceptWithin: async () => {
        const targetId = await this.destination.forEnvironment(environmentId);
        const row = this.inserts.rowOf(composed);
        await this.ledger.acceptWithin(emailEvent(email, targetId, { traceparent: null, idempotency: null, row }));
        this.database.afterCommit(() => this.metrics.accepted());
      },
    };
  }

  /**
   * Returns the sender's identity and the complete draft: with the topic, the attachments, and the headers as changed
   * by policies. Throws 422 if the email is rejected. Policies decide only on emails whose fields are valid.
   */
  private async complete(
    tenant: Tenant,
    draft: EmailDraft | InvalidDraft,
    allowed: FetchAllowance,
    checks: EmailChecks,
  ): Promise<{ complete: CompleteDraft; identity: SenderIdentity }> {
    const { from } = draft;
    const identity = from && (await checks.run(this.senderOf(tenant, from.address)));
    if (from !== null && identity?.isCaptured === false)
      await checks.run(refuseUnlessDeliverable({ ...draft, from }, this.transport));
    const headers = 'faults' in draft ? null : await checks.run(this.ruledHeaders(tenant, draft));
    const unsubscribe = await checks.run(this.links.resolve(tenant.environmentId, draft.unsubscribe));
    if (!('faults' in draft)) await checks.run(this.links.refuseTooLarge(tenant.environmentId, draft, unsubscribe));
    const attachments = await checks.run(this.attachments.complete(draft.attachments, allowed));
    if ('faults' in draft || identity === null || headers === null || attachments === null || checks.hasFailed)
      throw checks.error();
    return { complete: { ...draft, headers, unsubscribe, attachments }, identity };
  }

  /** Returns the sender's identity. Throws 422 if the environment may not send from the address. */
  private async senderOf(tenant: Tenant, from: string): Promise<SenderIdentity> {
    const identity = await this.identities.resolve(tenant, from);
    refusePaused(identity);
    return identity;
  }

  private async compose(
    environmentId: number,
    id: Id,
    complete: CompleteDraft,
    identity: SenderIdentity,
  ): Promise<ComposedEmail> {
    const named = {
      environmentId,
      id,
      expiresOnDay: await this.retention.expiresOnDay(environmentId, id),
      messageId: messageIdOf(id, identity),
    };
    return this.composition.make(named, complete, identity);
  }

  /** Returns the caller's headers with the changes made by policies. Attachments with a URL are not fetched yet. */
  private async ruledHeaders(tenant: Tenant, draft: EmailDraft): Promise<Record<string, string>> {
    if (!this.acceptancePolicies.isRuled) return draft.headers;
    const added = await this.acceptancePolicies.rule(ruledSubmission(tenant, draft));
    if (added === null) return draft.headers;
    return {
      ...Object.fromEntries(
        Object.entries(draft.headers).filter(([name]) => !Object.hasOwn(added, name.toLowerCase())),
      ),
      ...added,
    };
  }

  /**
   * Returns true if the email must be scheduled. An email whose recipients are all suppressed is not scheduled, so that
   * the response shows the status `suppressed` immediately.
   */
  private async isForLater(environmentId: number, draft: CompleteDraft): Promise<boolean> {
    if (draft.scheduledAt === null || draft.scheduledAt.getTime() <= this.clock.nowMs()) return false;
    return !(await this.composition.isSuppressed(environmentId, draft));
  }

  /**
   * Stores a scheduled email. If the request has an idempotency key, the HTTP layer commits the email and the key in
   * one transaction.
   */
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
}

const away = (): ApiError => unavailable('Storage is not reachable. Nothing was accepted, try again.');
