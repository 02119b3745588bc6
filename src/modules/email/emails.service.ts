import { Injectable } from '@nestjs/common';
import { AttemptLog, type AttemptRow } from '#modules/events/attempts.contract.js';
import type { EmailStatus } from '#engine/mail/recipient-state.js';
import { Clock } from '#kernel/clock.js';
import { Cursors, type CursorQuery, type PageQuery } from '#kernel/cursors.js';
import { badRequest, notFound } from '#kernel/errors.js';
import { type Id, lowestIdAt, parseId } from '#kernel/ids.js';
import type { Tenant } from '#kernel/tenant.js';
import { emailTargetId } from './email-destination.js';
import { type EmailFilter, type EmailRecord, type EmailRow, EmailsStore } from './emails.store.js';
import { RawEmails } from './raw-emails.js';

/** What a caller filters the list by, as given. */
export interface EmailQuery extends PageQuery {
  status?: EmailStatus;
  since?: string;
  until?: string;
}

/** An email with everything that is known of it. */
export interface EmailView {
  email: EmailRecord;
  /** Those in which something was sent, or was to be. */
  attempts: AttemptRow[];
}

const LIMIT_DEFAULT = 50;
/** Emails that one page of a status looks at: what is behind them is for the next one. */
const CANDIDATES_MAX = 1_000;
const TIME = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:\d{2})$/i;

/** Reads emails: newest first, bound to the caller's environment. */
@Injectable()
export class EmailsService {
  constructor(
    private readonly store: EmailsStore,
    private readonly attempts: AttemptLog,
    private readonly raw: RawEmails,
    private readonly cursors: Cursors,
    private readonly clock: Clock,
  ) {}

  /** A page of a status looks at a bounded number of emails, so that it may be short and not the last. Throws 400. */
  async list(tenant: Tenant, query: EmailQuery): Promise<{ rows: EmailRow[]; nextCursor: string | null }> {
    const { cursor, limit = LIMIT_DEFAULT, ...filters } = query;
    const list: CursorQuery = { list: 'emails', filters };
    const filter = this.filter(tenant, filters);
    if (cursor !== undefined) filter.beforeId = this.cursors.read(tenant, list, cursor);
    const { rows, floor } = filters.status === undefined
      ? { rows: await this.store.list(filter, limit + 1), floor: null }
      : await this.store.listOf(filters.status, filter, CANDIDATES_MAX);
    const page = rows.slice(0, limit);
    const last = rows.length > limit ? page.at(-1)?.id : floor;
    return { rows: page, nextCursor: last ? this.cursors.issue(tenant, list, last) : null };
  }

  /** Throws 404. */
  async find(tenant: Tenant, text: string): Promise<EmailView> {
    const id = emailId(text);
    const email = await this.store.find(tenant.environmentId, id);
    if (email === null) throw notFound('email');
    const attempts = await this.attempts.ofEvent(tenant, email);
    return { email, attempts: attempts.filter(({ error }) => error !== 'refused') };
  }

  /** The bytes that were sent, or are to be. Throws 404, also once they were erased. */
  async bytes(tenant: Tenant, text: string): Promise<{ chunks: AsyncIterable<Buffer>; sizeBytes: number }> {
    const email = await this.store.find(tenant.environmentId, emailId(text));
    const chunks = email && (await this.raw.read(tenant.environmentId, email.id));
    if (!email || !chunks) throw notFound('email');
    return { chunks, sizeBytes: email.sizeBytes };
  }

  private filter({ environmentId }: Tenant, { status, since, until }: Omit<EmailQuery, 'cursor' | 'limit'>): EmailFilter {
    const untilMs = until === undefined ? this.clock.nowMs() + 60_000 : timeMs('until', until);
    const sinceMs = since === undefined ? 0 : timeMs('since', since);
    return { environmentId, beforeId: lowestIdAt(untilMs + 1), fromId: lowestIdAt(sinceMs), status, targetId: emailTargetId(environmentId) };
  }
}

/** The email that an `evt_` id names. Throws 404 for anything else. */
export function emailId(text: string): Id {
  const id = parseId('evt', text);
  if (id === null) throw notFound('email');
  return id;
}

function timeMs(parameter: string, text: string): number {
  const ms = TIME.test(text) ? Date.parse(text) : NaN;
  if (Number.isNaN(ms)) throw badRequest(`${parameter} must be an RFC 3339 time such as 2026-11-21T09:30:00.000Z.`);
  return ms;
}
