import { ApiProperty } from '@nestjs/swagger';
import { IsIn, IsInt, IsString, Max, MaxLength, Min } from 'class-validator';
import { CanBeNull, CanBeOmitted, IsArrayOf, IsDateTime } from '#http/validation.js';
import { noSuch } from '#kernel/errors.js';
import { type Id, parseId, showId } from '#kernel/ids.js';
import type { SignInWay } from '#modules/auth/sessions.contract.js';
import type { SessionRow } from './sessions.store.js';

const WAYS = ['key', 'code', 'oidc'] as const;

/** Pagination parameters of the session list. */
export class SessionListQuery {
  /** Cursor of the page to return: the `next_cursor` of the previous page. Returns the first page if omitted. */
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

/** An active session. */
export class SessionItem {
  /** Id of the session. */
  @ApiProperty({ example: 'ses_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1' })
  @IsString()
  id: string;

  /** Sign-in method: an API key, a code sent by email, or the identity provider. */
  @ApiProperty({ example: 'code' })
  @IsIn(WAYS)
  how: SignInWay;

  /** Id of the member. `null` if the session was opened with a key. */
  @ApiProperty({ example: 'mbr_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1' })
  @CanBeNull()
  @IsString()
  member: string | null;

  /** Email address of the member. `null` if the session was opened with a key. */
  @ApiProperty({ example: 'ada@example.com' })
  @CanBeNull()
  @IsString()
  email: string | null;

  /** Id of the key that opened the session. `null` if a member opened it. */
  @ApiProperty({ example: null })
  @CanBeNull()
  @IsString()
  key: string | null;

  /** Network from which the session was opened: an IPv4 address or the /64 prefix of an IPv6 address. */
  @ApiProperty({ example: '203.0.113.7' })
  @IsString()
  network: string;

  /** User agent of the browser that opened the session, truncated to 200 characters. */
  @ApiProperty({ example: 'Mozilla/5.0 (X11; Linux x86_64) Firefox/140.0' })
  @IsString()
  user_agent: string;

  /** Time at which the session was opened. */
  @ApiProperty({ example: '2026-11-21T09:30:00.000Z' })
  @IsDateTime()
  created_at: string;

  /** Time of the last request, accurate to about one minute. */
  @ApiProperty({ example: '2026-11-21T10:02:11.402Z' })
  @IsDateTime()
  last_seen_at: string;

  /** Time at which the session ends, even if still in use. After twelve hours without a request, it ends earlier. */
  @ApiProperty({ example: '2026-11-28T09:30:00.000Z' })
  @IsDateTime()
  expires_at: string;
}

/** One page of sessions, newest first. */
export class SessionPage {
  /** The sessions of this page. */
  @IsArrayOf(() => SessionItem)
  data: SessionItem[];

  /** Pass this value as `cursor` to get the next page. `null` on the last page. */
  @ApiProperty({ example: null })
  @CanBeNull()
  @IsString()
  next_cursor: string | null;
}

/** Parses the session id in a path. Throws 404 if the text cannot be a session id. */
export function sessionId(text: string): Id {
  const id = parseId('ses', text);
  if (id === null) throw noSuch('session');
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
