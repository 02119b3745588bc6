import { Injectable } from '@nestjs/common';
import { Clock } from '#kernel/clock.js';
import { type CursorQuery, Cursors, type PageQuery } from '#kernel/cursors.js';
import { badRequest, conflict, noSuch } from '#kernel/errors.js';
import { type Id, idTimeMs, lowestIdAt, parseId } from '#kernel/ids.js';
import type { Tenant } from '#kernel/tenant.js';
import { type AttemptRow } from '#modules/events/attempts.contract.js';
import { AttemptLog } from '#modules/events/attempts/attempt-log.js';
import { shownOf } from './email-composition.js';
import { emailTargetId } from './email-destination.js';
import { recipientsOf } from './email-draft.js';
import { type EmailFilter, type EmailRecord, type EmailRow, EmailsStore, type ShownStatus } from './emails.store.js';
import { RawEmails } from './raw-emails.js';
import { ScheduledEmailsStore, type ScheduledRow } from './scheduled-emails.store.js';

export interface EmailQuery extends PageQuery {
  status?: ShownStatus;
  since?: string;
  until?: string;
  /** Tag filter in the form `name` or `name:value`. */
  tag?: string;
  recipient?: string;
}

export interface EmailView {
  email: Omit<EmailRecord, 'expiresOn'>;
  /** Attempts that sent a message or tried to. */
  attempts: AttemptRow[];
}

const LIMIT_DEFAULT = 50;
/** Maximum number of emails scanned for a page with filters. The next page continues after them. */
const CANDIDATES_MAX = 1_000;
const TIME = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:\d{2})$/i;

@Injectable()
export class EmailsService {
  constructor(
    private readonly store: EmailsStore,
    private readonly scheduled: ScheduledEmailsStore,
    private readonly attempts: AttemptLog,
    private readonly raw: RawEmails,
    private readonly cursors: Cursors,
    private readonly clock: Clock,
  ) {}

  /** A filtered page scans a bounded number of emails, so a short page may not be the last. Throws 400. */
  async list(tenant: Tenant, query: EmailQuery): Promise<{ rows: EmailRow[]; nextCursor: string | null }> {
    const { cursor, limit = LIMIT_DEFAULT, ...filters } = query;
    const list: CursorQuery = { list: 'emails', filters };
    const filter = this.filter(tenant, filters);
    if (cursor !== undefined) filter.beforeId = this.cursors.read(tenant, list, cursor);
    const { rows, floor } = await this.page(filter, limit + 1);
    const page = rows.slice(0, limit);
    const last = rows.length > limit ? page.at(-1)?.id : floor;
    return { rows: page, nextCursor: last ? this.cursors.issue(tenant, list, last) : null };
  }

  /** Throws 404 if there is no such email. */
  async find(tenant: Tenant, text: string): Promise<EmailView> {
    const id = emailId(text);
    const { environmentId } = tenant;
    let email = await this.store.find(environmentId, id);
    if (email === null) {
      const scheduled = await this.scheduled.find(environmentId, id);
      if (scheduled !== null) return { email: scheduledRecord(scheduled), attempts: [] };
      // A scheduled email may have moved to the other table between the two queries.
      email = await this.store.find(environmentId, id);
    }
    if (email === null) throw noSuch('email');
    const attempts = await this.attempts.ofEvent(tenant, email);
    return { email, attempts: attempts.filter(({ error }) => error !== 'refused') };
  }

  /** Throws 404 if there are no bytes, for example after an erasure. */
  async bytes(tenant: Tenant, text: string): Promise<{ chunks: AsyncIterable<Buffer>; sizeBytes: number }> {
    const email = await this.store.find(tenant.environmentId, emailId(text));
    const chunks = email && (await this.raw.read(tenant.environmentId, email.id));
    if (!email || !chunks) throw noSuch('email');
    return { chunks, sizeBytes: email.sizeBytes };
  }

  /** Throws 404 if there is no such email, and 409 if it was sent or is being sent. */
  async cancel({ environmentId }: Tenant, text: string): Promise<Id> {
    const id = emailId(text);
    if (await this.scheduled.remove(environmentId, id)) return id;
    if ((await this.store.find(environmentId, id)) === null) throw noSuch('email');
    throw conflict(
      'The email was sent or is being sent: only a scheduled email can be cancelled. POST /v1/events/{id}/cancel ends the deliveries that are still waiting.',
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
    status: 'scheduled',
    sizeBytes: 0,
    timeline: [],
    isOwed: true,
    returnPathHost: null,
    handingOver: null,
    erasedAt: null,
    recipients: recipientsOf(draft).map(({ address, kind }) => ({ address, kind, state: 'sending', at, detail: null })),
  };
}

/** Throws 404 for anything but the `evt_` id of an email. */
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
