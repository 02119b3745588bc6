import { Injectable } from '@nestjs/common';
import { isOwed } from '#engine/mail/recipient-state.js';
import { Clock } from '#kernel/clock.js';
import { type CursorQuery, Cursors, type PageQuery } from '#kernel/cursors.js';
import { badRequest, conflict, noSuch } from '#kernel/errors.js';
import { type Id, idAfter, idTimeMs, lowestIdAt, parseId } from '#kernel/ids.js';
import type { Tenant } from '#kernel/tenant.js';
import { type AttemptRow } from '#modules/events/attempts.contract.js';
import { AttemptLog } from '#modules/events/attempts/attempt-log.js';
import { attachmentNotes, shownOf } from './email-composition.js';
import { emailTargetId } from './email-destination.js';
import { type CompleteDraft, recipientsOf } from './email-draft.js';
import { type EmailFilter, type EmailRecord, type EmailRow, EmailsStore, type ShownStatus } from './emails.store.js';
import { ScheduledChanges } from './scheduled-changes.js';
import { type Rescheduling, ScheduledEmailsStore, type ScheduledRow } from './scheduled-emails.store.js';
import { SignedMessages } from './signed-messages.js';

export interface EmailQuery extends PageQuery {
  status?: ShownStatus;
  since?: string;
  until?: string;
  /** Tag filter in the form `name` or `name:value`. */
  tag?: string;
  recipient?: string;
  /** Id of the last email of the previous page. An alternative to a cursor. */
  after?: string;
  /** Id of the first email of the current page. Requests the emails that are directly newer. */
  before?: string;
}

export interface EmailView {
  email: Omit<EmailRecord, 'expiresOn'>;
  /** The stored request, if the email is scheduled and not composed yet. Null for every other email. */
  draft: CompleteDraft | null;
  /** Attempts to send the message, whether or not they succeeded. */
  attempts: AttemptRow[];
}

/** A page of emails, newest first. */
export interface EmailRows {
  rows: EmailRow[];
  /** Whether more emails follow the page. For a page with `before`, whether newer emails precede the page. */
  hasMore: boolean;
  nextCursor: string | null;
}

const LIMIT_DEFAULT = 50;
/** Maximum number of emails scanned for a page with filters. The next page continues after the scanned emails. */
const CANDIDATES_MAX = 1_000;
const TIME = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:\d{2})$/i;

@Injectable()
export class EmailsService {
  constructor(
    private readonly store: EmailsStore,
    private readonly scheduled: ScheduledEmailsStore,
    private readonly changes: ScheduledChanges,
    private readonly attempts: AttemptLog,
    private readonly messages: SignedMessages,
    private readonly cursors: Cursors,
    private readonly clock: Clock,
  ) {}

  /**
   * Lists emails. With filters, scans a limited number of emails, so a page can be short although more pages follow.
   * Throws 400 for invalid parameters.
   */
  async list(tenant: Tenant, query: EmailQuery): Promise<EmailRows> {
    const { cursor, after, before, limit = LIMIT_DEFAULT, ...filters } = query;
    if (before !== undefined) return this.listBefore(tenant, query, limit);
    if (after !== undefined && cursor !== undefined) throw badRequest('Send after or cursor, but not both.');
    const list: CursorQuery = { list: 'emails', filters };
    const filter = this.filter(tenant, filters);
    const afterId = after === undefined ? filter.beforeId : positionOf('after', after);
    if (afterId < filter.beforeId) filter.beforeId = afterId;
    if (cursor !== undefined) filter.beforeId = this.cursors.read(tenant, list, cursor);
    const { rows, floor } = await this.page(filter, limit + 1);
    const page = rows.slice(0, limit);
    const last = rows.length > limit ? page.at(-1)?.id : floor;
    return {
      rows: page,
      hasMore: last !== undefined && last !== null,
      nextCursor: last ? this.cursors.issue(tenant, list, last) : null,
    };
  }

  /** Lists the emails that are directly newer than `before`, newest first. */
  private async listBefore(tenant: Tenant, query: EmailQuery, limit: number): Promise<EmailRows> {
    const { before = '', status, tag, recipient, after, cursor } = query;
    if ([status, tag, recipient, after, cursor].some((each) => each !== undefined))
      throw badRequest('The parameter before can be combined with limit, since and until only.');
    const filter = this.filter(tenant, query);
    const fromId = idAfter(positionOf('before', before), 1);
    if (fromId > filter.fromId) filter.fromId = fromId;
    const rows = await this.store.list({ ...filter, isAscending: true }, limit + 1);
    return { rows: rows.slice(0, limit).reverse(), hasMore: rows.length > limit, nextCursor: null };
  }

  /** Returns an email. Throws 404 if it does not exist. */
  async find(tenant: Tenant, text: string): Promise<EmailView> {
    const id = emailId(text);
    const { environmentId } = tenant;
    let email = await this.store.find(environmentId, id);
    if (email === null) {
      const scheduled = await this.scheduled.find(environmentId, id);
      if (scheduled !== null) return { email: scheduledRecord(scheduled), draft: scheduled.draft, attempts: [] };
      // Between the two queries, a scheduled email may have been moved to the table `emails`.
      email = await this.store.find(environmentId, id);
    }
    if (email === null) throw noSuch('email');
    const attempts = await this.attempts.ofEvent(tenant, email);
    // Reads the email again if an attempt or a replay can change it, because it must not be older than its last attempt.
    const canChange = email.recipients.some(({ state }) => isOwed(state, true));
    if (canChange && attempts.length > 0) email = (await this.store.find(environmentId, id)) ?? email;
    return { email, draft: null, attempts: attempts.filter(({ error }) => error !== 'refused') };
  }

  /**
   * Returns an email's raw message and its size. Throws 404 if the message does not exist, for example after an
   * erasure.
   */
  async bytes(tenant: Tenant, text: string): Promise<{ chunks: AsyncIterable<Buffer>; sizeBytes: number }> {
    const email = await this.store.find(tenant.environmentId, emailId(text));
    const message = email && (await this.messages.read(tenant.environmentId, email));
    if (!message) throw noSuch('email');
    return message;
  }

  /**
   * Cancels a scheduled email. Does nothing if the email is already canceled. Throws 404 if the email does not exist,
   * and 409 if it was sent or is being sent.
   */
  async cancel({ environmentId }: Tenant, text: string): Promise<Id> {
    const id = emailId(text);
    if (await this.changes.cancel(environmentId, id)) return id;
    const email = await this.store.find(environmentId, id);
    if (email === null) throw noSuch('email');
    if (email.status === 'canceled') return id;
    throw conflict(
      'The email was sent or is being sent: only a scheduled email can be canceled. POST /v1/events/{id}/cancel ends the deliveries that are still waiting.',
    );
  }

  /**
   * Changes the time of a scheduled email. Throws 404 if the email does not exist, 409 if it is no longer scheduled,
   * and 422 for an invalid time.
   */
  async reschedule({ environmentId }: Tenant, text: string, scheduledAt: string): Promise<Rescheduling & { id: Id }> {
    const id = emailId(text);
    const changed = await this.changes.reschedule(environmentId, id, scheduledAt);
    if (changed !== null) return { id, ...changed };
    const email = await this.store.find(environmentId, id);
    if (email === null) throw noSuch('email');
    throw conflict(
      email.status === 'canceled'
        ? 'The email was canceled: only a scheduled email can get another time.'
        : 'The email was sent or is being sent: only a scheduled email can get another time.',
    );
  }

  private async page(filter: EmailFilter, limit: number): Promise<{ rows: EmailRow[]; floor: Id | null }> {
    if (filter.tag !== undefined || filter.recipient !== undefined)
      return this.store.withTraits(filter, CANDIDATES_MAX);
    if (filter.status === undefined) return { rows: await this.store.list(filter, limit), floor: null };
    if (filter.status === 'scheduled') return { rows: await this.store.listScheduled(filter, limit), floor: null };
    return this.store.listOf(filter.status, filter, CANDIDATES_MAX);
  }

  private filter(
    { environmentId }: Tenant,
    { status, since, until, tag, recipient }: Omit<EmailQuery, 'cursor' | 'limit'>,
  ): EmailFilter {
    const untilMs = until === undefined ? this.clock.nowMs() + 60_000 : timeMs('until', until);
    const sinceMs = since === undefined ? 0 : timeMs('since', since);
    const [name = '', value] = tag?.split(':') ?? [];
    return {
      environmentId,
      beforeId: lowestIdAt(untilMs + 1),
      fromId: lowestIdAt(sinceMs),
      status,
      targetId: emailTargetId(environmentId),
      ...(tag !== undefined && { tag: { name, ...(value !== undefined && { value }) } }),
      ...(recipient !== undefined && { recipient }),
    };
  }
}

function scheduledRecord({ id, messageId, isCaptured, draft }: ScheduledRow): Omit<EmailRecord, 'expiresOn'> {
  const at = new Date(idTimeMs(id)).toISOString();
  return {
    id,
    messageId,
    isCaptured,
    ...shownOf(draft),
    attachments: attachmentNotes(draft),
    status: 'scheduled',
    progress: null,
    sizeBytes: 0,
    timeline: [],
    isOwed: true,
    returnPathHost: null,
    originalSender: null,
    signature: null,
    handingOver: null,
    erasedAt: null,
    recipients: recipientsOf(draft).map(({ address, kind }) => ({ address, kind, state: 'sending', at, detail: null })),
  };
}

/** Parses the id of an email in a query parameter. Throws 400 for an invalid id. */
function positionOf(parameter: string, text: string): Id {
  const id = parseId('evt', text);
  if (id === null) throw badRequest(`${parameter} must be the id of an email (evt_…).`);
  return id;
}

/** Parses the id of an email. Throws 404 for text that is not an `evt_` id. */
export function emailId(text: string): Id {
  const id = parseId('evt', text);
  if (id === null) throw noSuch('email');
  return id;
}

function timeMs(parameter: string, text: string): number {
  const ms = TIME.test(text) ? Date.parse(text) : NaN;
  if (Number.isNaN(ms)) throw badRequest(`${parameter} must be an RFC 3339 time such as 2026-11-21T09:30:00.000Z.`);
  return ms;
}
