import { ApiProperty } from '@nestjs/swagger';
import { IsIn, IsInt, IsOptional, IsString, Length, Max, MaxLength, Min } from 'class-validator';
import { Examples } from '#http/openapi-examples.js';
import { CanBeNull, CanBeOmitted, IsArrayOf, IsDateTime } from '#http/validation.js';
import { noSuch } from '#kernel/errors.js';
import { type Id, parseId, showId } from '#kernel/ids.js';
import { type Scope, SCOPES } from '#kernel/tenant.js';
import type { ApiKeyEntity } from '../auth.entities.js';
import { keyMode } from './api-key.js';
import type { IssuedKey } from './key-issuer.js';
import type { NewKey } from './key-lifecycle.js';

const MODES = ['live', 'test'] as const;
const SOURCES = ['api', 'oauth', 'bootstrap'] as const;

/** Pagination parameters of the key list. */
export class KeyListQuery {
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

/** The key to create. */
@Examples({
  write: { summary: 'A key that sends and configures', value: { name: 'Billing service', scope: 'write' } },
  read: {
    summary: 'A read-only key that expires at the end of 2027',
    value: { name: 'Dashboard', scope: 'read', expires_at: '2027-12-31T23:59:59.000Z' },
  },
})
export class NewKeyBody {
  /** Display name. */
  @ApiProperty({ example: 'Billing service' })
  @IsString()
  @Length(1, 200)
  name: string;

  /** Scope of the key. Each scope includes the scopes listed before it. */
  @ApiProperty({ example: 'write' })
  @IsIn(SCOPES)
  scope: Scope;

  /** Environment of the key. Defaults to the environment of the calling key. Only a live key can create a live key. */
  @ApiProperty({ example: 'test' })
  @CanBeOmitted()
  @IsIn(MODES)
  environment?: 'live' | 'test';

  /** Time from which the key is rejected (RFC 3339). If omitted, the key does not expire. */
  @ApiProperty({ example: '2027-01-01T00:00:00.000Z' })
  @IsOptional()
  @IsDateTime()
  expires_at?: string | null;
}

/** Options for the rotation of a key. */
@Examples({
  day: { summary: 'Accept the old key for another day', value: { grace_seconds: 86_400 } },
  now: { summary: 'Revoke the old key now', value: { grace_seconds: 0 } },
})
export class KeyRotationBody {
  /** Time in seconds for which the old key is still accepted. With 0 the old key is revoked immediately. */
  @ApiProperty({ default: 86_400, example: 86_400 })
  @CanBeOmitted()
  @IsInt()
  @Min(0)
  @Max(604_800)
  grace_seconds?: number;
}

/** An API key without its secret text. */
export class KeyItem {
  /** Id of the key. */
  @ApiProperty({ example: 'ek_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1' })
  @IsString()
  id: string;

  /** Display name. */
  @ApiProperty({ example: 'Billing service' })
  @IsString()
  name: string;

  /** Scope of the key. */
  @ApiProperty({ example: 'write' })
  @IsIn(SCOPES)
  scope: Scope;

  /** Environment whose data the key can access. */
  @ApiProperty({ example: 'live' })
  @IsIn(MODES)
  environment: 'live' | 'test';

  /** First characters of the key's text. */
  @ApiProperty({ example: 'ek_live_4fQa' })
  @IsString()
  prefix: string;

  /** Time of creation. */
  @ApiProperty({ example: '2026-11-21T09:30:00.000Z' })
  @IsDateTime()
  created_at: string;

  /** Time of the last use, accurate to about one minute. `null` if the key has never been used. */
  @ApiProperty({ example: '2026-11-21T10:02:11.402Z' })
  @CanBeNull()
  @IsDateTime()
  last_used_at: string | null;

  /** Time from which the key is rejected. `null` if the key does not expire. */
  @ApiProperty({ example: null })
  @CanBeNull()
  @IsDateTime()
  expires_at: string | null;

  /** Time at which the key was revoked. `null` if it is not revoked. */
  @ApiProperty({ example: null })
  @CanBeNull()
  @IsDateTime()
  revoked_at: string | null;

  /** Origin of the key: an API call, an OAuth grant, or the first start of the installation. */
  @ApiProperty({ example: 'api' })
  @IsIn(SOURCES)
  source: ApiKeyEntity['source'];

  /** Id of the client, if the key comes from an OAuth grant. `null` otherwise. */
  @ApiProperty({ example: null })
  @CanBeNull()
  @IsString()
  client_id: string | null;

  /**
   * Name that the client gave itself, if the key comes from an OAuth grant. The name is not verified. `null` otherwise.
   */
  @ApiProperty({ example: null })
  @CanBeNull()
  @IsString()
  client_name: string | null;

  /**
   * Approver of the OAuth grant that the key comes from: a member's email address or the name of a key. `null` for
   * other keys.
   */
  @ApiProperty({ example: null })
  @CanBeNull()
  @IsString()
  granted_by: string | null;
}

/** A newly created key with its secret text. */
export class IssuedKeyItem extends KeyItem {
  /** The key itself. Returned only in this response. */
  @ApiProperty({ example: 'ek_live_4fQaVb0mJ2sYkWcX9tLr7uNzPe5hDg3iOq8wAx1CyBv6KdR' })
  @IsString()
  key: string;
}

/** One page of keys, newest first. */
export class KeyPage {
  /** The keys of this page, including revoked keys. */
  @IsArrayOf(() => KeyItem)
  data: KeyItem[];

  /** Pass this value as `cursor` to get the next page. `null` on the last page. */
  @ApiProperty({ example: null })
  @CanBeNull()
  @IsString()
  next_cursor: string | null;
}

/** Parses the key id in a path. Throws 404 if the text cannot be a key id. */
export function keyId(text: string): Id {
  const id = parseId('ek', text);
  if (id === null) throw noSuch('key');
  return id;
}

export function newKey(body: NewKeyBody, callersMode: 'live' | 'test'): NewKey {
  const { name, scope, environment = callersMode, expires_at } = body;
  return { name, scope, environment, expiresAt: expires_at ? new Date(expires_at) : null };
}

export function presentKey(row: ApiKeyEntity, environment: 'live' | 'test'): KeyItem {
  return {
    id: showId('ek', row.id),
    name: row.name,
    scope: row.scope,
    environment,
    prefix: row.prefix,
    created_at: row.createdAt.toISOString(),
    last_used_at: row.lastUsedAt?.toISOString() ?? null,
    expires_at: row.expiresAt?.toISOString() ?? null,
    revoked_at: row.revokedAt?.toISOString() ?? null,
    source: row.source,
    client_id: row.clientId,
    client_name: row.clientName,
    granted_by: row.grantedBy,
  };
}

export function presentIssuedKey({ row, text }: IssuedKey): IssuedKeyItem {
  return { ...presentKey(row, keyMode(text)), key: text };
}

export function presentKeys(
  { rows, nextCursor }: { rows: ApiKeyEntity[]; nextCursor: string | null },
  environment: 'live' | 'test',
): KeyPage {
  return { data: rows.map((row) => presentKey(row, environment)), next_cursor: nextCursor };
}
