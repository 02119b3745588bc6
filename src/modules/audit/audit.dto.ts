import { ApiProperty } from '@nestjs/swagger';
import type { AuditActor } from '#kernel/audit.js';
import { badRequest } from '#kernel/errors.js';
import { showId } from '#kernel/ids.js';
import type { AuditFilter, AuditRow } from './audit.store.js';

const KINDS = ['key', 'member', 'operator', 'token', 'portal', 'unknown'] as const;
const FORMATS = ['jsonl', 'csv'] as const;

/** Which entries. */
export class AuditExportQuery {
  /** Who: the id of a key or a member, or the subject of a token. */
  @ApiProperty({ required: false, maxLength: 200, example: 'ek_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1' })
  actor?: string;

  /** What: a method and the template of a route, or a word such as `sign-in.failed`. */
  @ApiProperty({ required: false, maxLength: 200, example: 'POST /v1/keys' })
  action?: string;

  /** To what: an id, or the name of a collection. */
  @ApiProperty({ required: false, maxLength: 200, example: 'keys' })
  resource?: string;

  /** From this moment on (RFC 3339). */
  @ApiProperty({ required: false, format: 'date-time', example: '2026-11-01T00:00:00.000Z' })
  since?: string;

  /** Before this moment (RFC 3339). */
  @ApiProperty({ required: false, format: 'date-time', example: '2026-12-01T00:00:00.000Z' })
  until?: string;

  /** JSON lines, or CSV with a line of headings. */
  @ApiProperty({ required: false, enum: FORMATS, default: 'jsonl', example: 'csv' })
  format?: 'jsonl' | 'csv';
}

/** Which entries, and where in their list. */
export class AuditListQuery {
  /** Who: the id of a key or a member, or the subject of a token. */
  @ApiProperty({ required: false, maxLength: 200, example: 'ek_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1' })
  actor?: string;

  /** What: a method and the template of a route, or a word such as `sign-in.failed`. */
  @ApiProperty({ required: false, maxLength: 200, example: 'POST /v1/keys' })
  action?: string;

  /** To what: an id, or the name of a collection. */
  @ApiProperty({ required: false, maxLength: 200, example: 'keys' })
  resource?: string;

  /** From this moment on (RFC 3339). */
  @ApiProperty({ required: false, format: 'date-time', example: '2026-11-01T00:00:00.000Z' })
  since?: string;

  /** Before this moment (RFC 3339). */
  @ApiProperty({ required: false, format: 'date-time', example: '2026-12-01T00:00:00.000Z' })
  until?: string;

  /** Where to go on: the `next_cursor` of the page before. */
  @ApiProperty({ required: false, maxLength: 1024, example: 'WyIwMTlhOWY2NS0uLi4iXQ.c2lnbmF0dXJl' })
  cursor?: string;

  /** How many to return. */
  @ApiProperty({ required: false, type: 'integer', minimum: 1, maximum: 100, default: 50, example: 50 })
  limit?: number;
}

/** Who did it. */
export class AuditActorItem {
  /** A key, a member, the operator of the installation, a token that an extension vouches for, the session of a customers' portal, or nobody who is known. */
  @ApiProperty({ enum: KINDS, example: 'key' })
  kind: AuditActor['kind'];

  /** The id of the key, the member or the portal's session (`pls_…`), or the token's subject. */
  @ApiProperty({ type: String, nullable: true, example: 'ek_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1' })
  id: string | null;

  /** The key's name, or the member's address, as it was then. */
  @ApiProperty({ type: String, nullable: true, example: 'Billing service' })
  name: string | null;

  /** What made the key: `oauth` is an agent's. */
  @ApiProperty({ type: String, nullable: true, example: 'api' })
  source: string | null;

  /** The session of who was signed in and sent no key. */
  @ApiProperty({ type: String, nullable: true, example: 'ses_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1' })
  session: string | null;
}

/** One thing that was done, or was tried. */
export class AuditItem {
  /** The entry's id. */
  @ApiProperty({ example: 'aud_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1' })
  id: string;

  /** When, by the clock of the database. */
  @ApiProperty({ format: 'date-time', example: '2026-11-21T09:30:00.000Z' })
  at: string;

  /** Who. */
  actor: AuditActorItem;

  /** The method and the template of the route, or a word for what is no call. */
  @ApiProperty({ example: 'POST /v1/keys' })
  action: string;

  /** What kind of thing it was done to. */
  @ApiProperty({ type: String, nullable: true, example: 'keys' })
  resource_type: string | null;

  /** Which one. */
  @ApiProperty({ type: String, nullable: true, example: 'ek_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1' })
  resource_id: string | null;

  /** The client's address; behind a proxy the one that TRUST_PROXY lets count. */
  @ApiProperty({ type: String, nullable: true, example: '203.0.113.7' })
  ip: string | null;

  /** What the client called itself, cut at 200 characters. */
  @ApiProperty({ type: String, nullable: true, example: 'posthorn/0.1.0' })
  user_agent: string | null;

  /** The request, as its answer and the logs name it. */
  @ApiProperty({ type: String, nullable: true, example: 'req_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1' })
  request_id: string | null;

  /** What was changed, as it was before: only the fields that differ, all of them when it was removed, null when it was made. Secrets are masked. */
  @ApiProperty({ type: 'object', additionalProperties: true, nullable: true, example: { name: 'Old' } })
  before: Record<string, unknown> | null;

  /** The same as it is now; null when it was removed. */
  @ApiProperty({ type: 'object', additionalProperties: true, nullable: true, example: { name: 'New' } })
  after: Record<string, unknown> | null;
}

/** One page of the audit log, newest first. */
export class AuditPage {
  /** The entries of this page. */
  @ApiProperty({ type: [AuditItem] })
  data: AuditItem[];

  /** Pass it as `cursor` for the next page; null on the last one. */
  @ApiProperty({ type: String, nullable: true, example: null })
  next_cursor: string | null;
}

/** Throws 400 for a moment that is none. */
export function auditFilter({ actor, action, resource, since, until }: AuditExportQuery): AuditFilter {
  return {
    actor: actor ?? null,
    action: action ?? null,
    resource: resource ?? null,
    since: moment('since', since),
    until: moment('until', until),
  };
}

export function presentAudit(row: AuditRow): AuditItem {
  return {
    id: showId('aud', row.id),
    at: row.at.toISOString(),
    actor: {
      kind: row.actor_kind,
      id: row.actor_id,
      name: row.actor_name,
      source: row.actor_source,
      session: row.actor_session,
    },
    action: row.action,
    resource_type: row.resource_type,
    resource_id: row.resource_id,
    ip: row.ip,
    user_agent: row.user_agent,
    request_id: row.request_id,
    before: row.before,
    after: row.after,
  };
}

function moment(name: string, text: string | undefined): Date | null {
  if (text === undefined) return null;
  const date = new Date(text);
  // Also 23:59:60, which is a valid time but none that JavaScript knows.
  if (Number.isNaN(date.getTime())) throw badRequest(`${name} is no moment that can be asked for.`);
  return date;
}
