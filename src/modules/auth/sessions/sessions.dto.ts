import { ApiProperty } from '@nestjs/swagger';
import { notFound } from '#kernel/errors.js';
import { type Id, parseId, showId } from '#kernel/ids.js';
import type { SignInWay } from '#modules/auth/sessions.contract.js';
import type { SessionRow } from './sessions.store.js';

const WAYS = ['key', 'code', 'oidc'] as const;

/** Where in the list of sessions. */
export class SessionListQuery {
  /** Where to go on: the `next_cursor` of the page before. */
  @ApiProperty({ required: false, maxLength: 1024, example: 'WyIwMTlhOWY2NS0uLi4iXQ.c2lnbmF0dXJl' })
  cursor?: string;

  /** How many to return. */
  @ApiProperty({ required: false, type: 'integer', minimum: 1, maximum: 100, default: 50, example: 50 })
  limit?: number;
}

/** A session that is in force. */
export class SessionItem {
  /** The session's id. */
  @ApiProperty({ example: 'ses_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1' })
  id: string;

  /** How somebody signed in: with an API key, with a code by email, through the identity provider. */
  @ApiProperty({ enum: WAYS, example: 'code' })
  how: SignInWay;

  /** The member whose session it is; null when a key opened it. */
  @ApiProperty({ type: String, nullable: true, example: 'mbr_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1' })
  member: string | null;

  /** The member's address; null when a key opened it. */
  @ApiProperty({ type: String, nullable: true, example: 'ada@example.com' })
  email: string | null;

  /** The key that opened it; null for a member's. */
  @ApiProperty({ type: String, nullable: true, example: null })
  key: string | null;

  /** The network it was opened from: an IPv4 address, or the /64 of an IPv6 one. */
  @ApiProperty({ example: '203.0.113.7' })
  network: string;

  /** What the browser called itself then, cut at 200 characters. */
  @ApiProperty({ example: 'Mozilla/5.0 (X11; Linux x86_64) Firefox/140.0' })
  user_agent: string;

  /** When it was opened. */
  @ApiProperty({ format: 'date-time', example: '2026-11-21T09:30:00.000Z' })
  created_at: string;

  /** Its last request, to about a minute. */
  @ApiProperty({ format: 'date-time', example: '2026-11-21T10:02:11.402Z' })
  last_seen_at: string;

  /** When it ends at the latest; twelve hours without a request end it before. */
  @ApiProperty({ format: 'date-time', example: '2026-11-28T09:30:00.000Z' })
  expires_at: string;
}

/** One page of sessions, newest first. */
export class SessionPage {
  /** The sessions of this page. */
  @ApiProperty({ type: [SessionItem] })
  data: SessionItem[];

  /** Pass it as `cursor` for the next page; null on the last one. */
  @ApiProperty({ type: String, nullable: true, example: null })
  next_cursor: string | null;
}

/** The session that a path names. Throws 404 for what can't be one. */
export function sessionId(text: string): Id {
  const id = parseId('ses', text);
  if (id === null) throw notFound('session');
  return id;
}

export function presentSession(row: SessionRow): SessionItem {
  return {
    id: showId('ses', row.id),
    how: row.how,
    member: row.member_id && showId('mbr', row.member_id),
    email: row.email,
    key: row.key_id && showId('ek', row.key_id),
    network: row.network,
    user_agent: row.user_agent,
    created_at: row.created_at.toISOString(),
    last_seen_at: row.last_seen_at.toISOString(),
    expires_at: row.expires_at.toISOString(),
  };
}
