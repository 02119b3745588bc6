import { ApiProperty } from '@nestjs/swagger';
import { IsIn, IsInt, IsObject, IsString, Max, MaxLength, Min } from 'class-validator';
import { CanBeNull, CanBeOmitted, IsArrayOf, IsDateTime, IsObjectOf } from '#http/validation.js';
import type { AuditActor } from '#kernel/audit.js';
import { badRequest } from '#kernel/errors.js';
import { showId } from '#kernel/ids.js';
import type { AuditFilter, AuditRow } from './audit.store.js';

const KINDS = ['key', 'member', 'operator', 'token', 'portal', 'unknown'] as const;
const FORMATS = ['jsonl', 'csv'] as const;

/** Filters for an export of the audit log. */
export class AuditExportQuery {
  /** Returns only entries of this actor: the id of a key or a member, or the subject of a token. */
  @ApiProperty({ example: 'ek_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1' })
  @CanBeOmitted()
  @IsString()
  @MaxLength(200)
  actor?: string;

  /** Returns only entries with this action: a method with a route template, or a word such as `sign-in.failed`. */
  @ApiProperty({ example: 'POST /v1/keys' })
  @CanBeOmitted()
  @IsString()
  @MaxLength(200)
  action?: string;

  /** Returns only entries about this resource: an id, or the name of a collection. */
  @ApiProperty({ example: 'keys' })
  @CanBeOmitted()
  @IsString()
  @MaxLength(200)
  resource?: string;

  /** Returns only entries at or after this time (RFC 3339). */
  @ApiProperty({ example: '2026-11-01T00:00:00.000Z' })
  @CanBeOmitted()
  @IsDateTime()
  since?: string;

  /** Returns only entries before this time (RFC 3339). */
  @ApiProperty({ example: '2026-12-01T00:00:00.000Z' })
  @CanBeOmitted()
  @IsDateTime()
  until?: string;

  /** Format of the export: JSON lines, or CSV with a header row. */
  @ApiProperty({ default: 'jsonl', example: 'csv' })
  @CanBeOmitted()
  @IsIn(FORMATS)
  format?: 'jsonl' | 'csv';
}

/** Filters and page for the audit log. */
export class AuditListQuery {
  /** Returns only entries of this actor: the id of a key or a member, or the subject of a token. */
  @ApiProperty({ example: 'ek_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1' })
  @CanBeOmitted()
  @IsString()
  @MaxLength(200)
  actor?: string;

  /** Returns only entries with this action: a method with a route template, or a word such as `sign-in.failed`. */
  @ApiProperty({ example: 'POST /v1/keys' })
  @CanBeOmitted()
  @IsString()
  @MaxLength(200)
  action?: string;

  /** Returns only entries about this resource: an id, or the name of a collection. */
  @ApiProperty({ example: 'keys' })
  @CanBeOmitted()
  @IsString()
  @MaxLength(200)
  resource?: string;

  /** Returns only entries at or after this time (RFC 3339). */
  @ApiProperty({ example: '2026-11-01T00:00:00.000Z' })
  @CanBeOmitted()
  @IsDateTime()
  since?: string;

  /** Returns only entries before this time (RFC 3339). */
  @ApiProperty({ example: '2026-12-01T00:00:00.000Z' })
  @CanBeOmitted()
  @IsDateTime()
  until?: string;

  /** Start of the page: the `next_cursor` of the previous page. */
  @ApiProperty({ example: 'WyIwMTlhOWY2NS0uLi4iXQ.c2lnbmF0dXJl' })
  @CanBeOmitted()
  @IsString()
  @MaxLength(1024)
  cursor?: string;

  /** Maximum number of items to return. */
  @ApiProperty({ default: 50, example: 50 })
  @CanBeOmitted()
  @IsInt()
  @Min(1)
  @Max(100)
  limit?: number;
}

/** The actor of an audit entry. */
export class AuditActorItem {
  /**
   * Kind of actor: a key, a member, the operator of the installation, a token accepted by an extension, a customer
   * portal session, or an unknown caller.
   */
  @ApiProperty({ example: 'key' })
  @IsIn(KINDS)
  kind: AuditActor['kind'];

  /** Id of the key, the member or the portal session (`pls_…`), or the subject of the token. */
  @ApiProperty({ example: 'ek_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1' })
  @CanBeNull()
  @IsString()
  id: string | null;

  /** Name of the key, or email address of the member, at the time of the entry. */
  @ApiProperty({ example: 'Billing service' })
  @CanBeNull()
  @IsString()
  name: string | null;

  /** Origin of the key. `oauth` means that the key was granted to an agent. */
  @ApiProperty({ example: 'api' })
  @CanBeNull()
  @IsString()
  source: string | null;

  /** Id of the sign-in session, if the actor was signed in and sent no key. */
  @ApiProperty({ example: 'ses_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1' })
  @CanBeNull()
  @IsString()
  session: string | null;
}

/** An action that was performed or attempted. */
export class AuditItem {
  /** Id of the entry. */
  @ApiProperty({ example: 'aud_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1' })
  @IsString()
  id: string;

  /** Time of the entry, according to the database clock. */
  @ApiProperty({ example: '2026-11-21T09:30:00.000Z' })
  @IsDateTime()
  at: string;

  /** Actor that performed or attempted the action. */
  @ApiProperty()
  @IsObjectOf(() => AuditActorItem)
  actor: AuditActorItem;

  /** Method and route template of the call, or a word for an action that is not an API call. */
  @ApiProperty({ example: 'POST /v1/keys' })
  @IsString()
  action: string;

  /** Type of the affected resource. */
  @ApiProperty({ example: 'keys' })
  @CanBeNull()
  @IsString()
  resource_type: string | null;

  /** Id of the affected resource. */
  @ApiProperty({ example: 'ek_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1' })
  @CanBeNull()
  @IsString()
  resource_id: string | null;

  /** IP address of the client. Behind a proxy, the setting TRUST_PROXY determines which address is recorded. */
  @ApiProperty({ example: '203.0.113.7' })
  @CanBeNull()
  @IsString()
  ip: string | null;

  /** User agent of the client, truncated to 200 characters. */
  @ApiProperty({ example: 'posthorn/0.1.0' })
  @CanBeNull()
  @IsString()
  user_agent: string | null;

  /** Request id, as in the response and in the logs. */
  @ApiProperty({ example: 'req_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1' })
  @CanBeNull()
  @IsString()
  request_id: string | null;

  /**
   * Value of the resource before the change. It has only the fields that differ, or all fields if the resource was
   * removed. It is `null` if the resource was created. Secrets are masked.
   */
  @ApiProperty({ example: { name: 'Old' } })
  @CanBeNull()
  @IsObject()
  before: Record<string, unknown> | null;

  /** Value of the resource after the change; `null` if the resource was removed. */
  @ApiProperty({ example: { name: 'New' } })
  @CanBeNull()
  @IsObject()
  after: Record<string, unknown> | null;
}

/** One page of the audit log, newest first. */
export class AuditPage {
  /** Audit entries on this page. */
  @IsArrayOf(() => AuditItem)
  data: AuditItem[];

  /** Value for `cursor` to get the next page; `null` on the last page. */
  @ApiProperty({ example: null })
  @CanBeNull()
  @IsString()
  next_cursor: string | null;
}

/** Returns the filter for the query. Throws 400 for an invalid time. */
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
  // RFC 3339 allows 23:59:60. JavaScript cannot represent that time, so the date is invalid.
  if (Number.isNaN(date.getTime())) throw badRequest(`${name} is not a time that can be used as a filter.`);
  return date;
}
