import { ApiProperty } from '@nestjs/swagger';
import { Examples } from '#http/openapi-examples.js';
import { notFound } from '#kernel/errors.js';
import { type Id, parseId, showId } from '#kernel/ids.js';
import { type Scope, SCOPES } from '#kernel/tenant.js';
import type { ApiKeyEntity } from '../auth.entities.js';
import { keyMode } from './api-key.js';
import type { IssuedKey } from './key-issuer.js';
import type { NewKey } from './key-lifecycle.js';

const MODES = ['live', 'test'] as const;
const SOURCES = ['api', 'oauth', 'bootstrap'] as const;

/** Where in the list of keys. */
export class KeyListQuery {
  /** Where to go on: the `next_cursor` of the page before. */
  @ApiProperty({ required: false, maxLength: 1024, example: 'WyIwMTlhOWY2NS0uLi4iXQ.c2lnbmF0dXJl' })
  cursor?: string;

  /** How many to return. */
  @ApiProperty({ required: false, type: 'integer', minimum: 1, maximum: 100, default: 50, example: 50 })
  limit?: number;
}

/** The key to create. */
@Examples({
  write: { summary: 'A key that sends and configures', value: { name: 'Billing service', scope: 'write' } },
  read: {
    summary: 'A key that reads, until the end of 2027',
    value: { name: 'Dashboard', scope: 'read', expires_at: '2027-12-31T23:59:59.000Z' },
  },
})
export class NewKeyBody {
  /** What people know it by. */
  @ApiProperty({ minLength: 1, maxLength: 200, example: 'Billing service' })
  name: string;

  /** What it may do; each scope includes the ones before it. */
  @ApiProperty({ enum: SCOPES, example: 'write' })
  scope: Scope;

  /** The environment it belongs to; that of the calling key when left out. Only a live key can make a live key. */
  @ApiProperty({ required: false, enum: MODES, example: 'test' })
  environment?: 'live' | 'test';

  /** From when on it is refused (RFC 3339); never when left out. */
  @ApiProperty({
    required: false,
    type: String,
    format: 'date-time',
    nullable: true,
    example: '2027-01-01T00:00:00.000Z',
  })
  expires_at?: string | null;
}

/** How to rotate a key. */
@Examples({
  day: { summary: 'The old key goes on for a day', value: { grace_seconds: 86_400 } },
  now: { summary: 'The old key ends now', value: { grace_seconds: 0 } },
})
export class KeyRotationBody {
  /** How long the old key goes on, in seconds; 0 ends it at once. */
  @ApiProperty({ required: false, type: 'integer', minimum: 0, maximum: 604_800, default: 86_400, example: 86_400 })
  grace_seconds?: number;
}

/** An API key, without its text. */
export class KeyItem {
  /** The key's id. */
  @ApiProperty({ example: 'ek_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1' })
  id: string;

  /** What people know it by. */
  @ApiProperty({ example: 'Billing service' })
  name: string;

  /** What it may do. */
  @ApiProperty({ enum: SCOPES, example: 'write' })
  scope: Scope;

  /** The environment whose data it sees. */
  @ApiProperty({ enum: MODES, example: 'live' })
  environment: 'live' | 'test';

  /** The first characters of its text. */
  @ApiProperty({ example: 'ek_live_4fQa' })
  prefix: string;

  /** When it was created. */
  @ApiProperty({ format: 'date-time', example: '2026-11-21T09:30:00.000Z' })
  created_at: string;

  /** When it was last used, to about a minute; null before the first time. */
  @ApiProperty({ type: String, format: 'date-time', nullable: true, example: '2026-11-21T10:02:11.402Z' })
  last_used_at: string | null;

  /** From when on it is refused; null when never. */
  @ApiProperty({ type: String, format: 'date-time', nullable: true, example: null })
  expires_at: string | null;

  /** When it was revoked; null while it is not. */
  @ApiProperty({ type: String, format: 'date-time', nullable: true, example: null })
  revoked_at: string | null;

  /** What made it: a call of this API, an OAuth grant, or the first start. */
  @ApiProperty({ enum: SOURCES, example: 'api' })
  source: ApiKeyEntity['source'];

  /** Of a key from an OAuth grant: the client. Null otherwise. */
  @ApiProperty({ type: String, nullable: true, example: null })
  client_id: string | null;

  /** Of a key from an OAuth grant: what the client calls itself, which nobody verified. Null otherwise. */
  @ApiProperty({ type: String, nullable: true, example: null })
  client_name: string | null;

  /** Of a key from an OAuth grant: who approved it, as a member's address or the name of a key. Null otherwise. */
  @ApiProperty({ type: String, nullable: true, example: null })
  granted_by: string | null;
}

/** A key that was just made, with its text. */
export class IssuedKeyItem extends KeyItem {
  /** The key itself, shown in this answer only. */
  @ApiProperty({ example: 'ek_live_4fQaVb0mJ2sYkWcX9tLr7uNzPe5hDg3iOq8wAx1CyBv6KdR' })
  key: string;
}

/** One page of keys, newest first. */
export class KeyPage {
  /** The keys of this page, revoked ones included. */
  @ApiProperty({ type: [KeyItem] })
  data: KeyItem[];

  /** Pass it as `cursor` for the next page; null on the last one. */
  @ApiProperty({ type: String, nullable: true, example: null })
  next_cursor: string | null;
}

/** The key that a path names. Throws 404 for what can't be one. */
export function keyId(text: string): Id {
  const id = parseId('ek', text);
  if (id === null) throw notFound('key');
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
