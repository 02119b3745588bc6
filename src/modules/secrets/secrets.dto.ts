import { ApiProperty } from '@nestjs/swagger';
import { Examples } from '#http/openapi-examples.js';
import { Fixed } from '#http/schemas.js';
import { notFound } from '#kernel/errors.js';
import { type Id, parseId, showId } from '#kernel/ids.js';
import type { NewSecret, SecretChanges } from './secret-keeper.js';
import { showUser } from './secret-users.js';
import type { SecretEntity } from './secrets.entities.js';
import type { SecretRows, SecretView } from './secrets.service.js';

const USER_KINDS = ['destination', 'endpoint'] as const;

/** Where in the list of secrets. */
export class SecretListQuery {
  /** Where to go on: the `next_cursor` of the page before. */
  @ApiProperty({ required: false, maxLength: 1024, example: 'WyIwMTlhOWY2NS0uLi4iXQ.c2lnbmF0dXJl' })
  cursor?: string;

  /** How many to return. */
  @ApiProperty({ required: false, type: 'integer', minimum: 1, maximum: 100, default: 50, example: 50 })
  limit?: number;
}

/** The secret to keep. */
export class NewSecretBody {
  /** What `{{secrets.NAME}}` calls it; unique in the environment, and never changed. */
  @ApiProperty({ pattern: '^[A-Za-z_][A-Za-z0-9_]{0,63}$', example: 'CRM_TOKEN' })
  name: string;

  /** The value, at most 16 KB in UTF-8; stored encrypted and never returned. */
  @ApiProperty({ minLength: 1, maxLength: 16_384, example: 'tok_8Kd2mQ' })
  value: string;

  /** What it is for. */
  @ApiProperty({ required: false, type: String, maxLength: 500, nullable: true, example: 'The CRM, read and write' })
  description?: string | null;
}

/** What to change of a secret: what is left out stays. */
@Fixed({ name: 'cannot be changed: create another secret' })
@Examples({
  value: { summary: 'A new value', value: { value: 'tok_9Ws4nR' } },
})
export class SecretChangesBody {
  /** A new value, which is a new version; in force on every node within five seconds. */
  @ApiProperty({ required: false, minLength: 1, maxLength: 16_384, example: 'tok_9Ws4nR' })
  value?: string;

  /** What it is for; null takes it away. */
  @ApiProperty({ required: false, type: String, maxLength: 500, nullable: true, example: 'The CRM, read and write' })
  description?: string | null;
}

/** A secret, without its value. */
export class SecretItem {
  /** The secret's id. */
  @ApiProperty({ example: 'sec_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1' })
  id: string;

  /** What `{{secrets.NAME}}` calls it. */
  @ApiProperty({ example: 'CRM_TOKEN' })
  name: string;

  /** What it is for; null when nobody said. */
  @ApiProperty({ type: String, nullable: true, example: 'The CRM, read and write' })
  description: string | null;

  /** Rises with every new value. */
  @ApiProperty({ type: 'integer', example: 1 })
  version: number;

  /** When it was created. */
  @ApiProperty({ format: 'date-time', example: '2026-11-21T09:30:00.000Z' })
  created_at: string;

  /** When its value or its description was changed last. */
  @ApiProperty({ format: 'date-time', example: '2026-11-21T09:30:00.000Z' })
  updated_at: string;
}

/** One page of secrets, newest first. */
export class SecretPage {
  /** The secrets of this page. */
  @ApiProperty({ type: [SecretItem] })
  data: SecretItem[];

  /** Pass it as `cursor` for the next page; null on the last one. */
  @ApiProperty({ type: String, nullable: true, example: null })
  next_cursor: string | null;
}

/** What uses a secret. */
export class SecretUserItem {
  /** What kind of thing it is. */
  @ApiProperty({ enum: USER_KINDS, example: 'destination' })
  kind: (typeof USER_KINDS)[number];

  /** Its id. */
  @ApiProperty({ example: 'dst_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1' })
  id: string;
}

/** A secret with what uses it, without its value. */
export class SecretDetail extends SecretItem {
  /** What uses it, the first 100; while there is any, it can't be deleted. */
  @ApiProperty({ type: [SecretUserItem] })
  used_by: SecretUserItem[];
}

/** The secret that a path names. Throws 404 for what can't be one. */
export function secretId(text: string): Id {
  const id = parseId('sec', text);
  if (id === null) throw notFound('secret');
  return id;
}

export function newSecret({ name, value, description }: NewSecretBody): NewSecret {
  return { name, value, description: description ?? null };
}

export function secretChanges({ value, description }: SecretChangesBody): SecretChanges {
  return { value, description };
}

export function presentItem(row: SecretEntity): SecretItem {
  return {
    id: showId('sec', row.id),
    name: row.name,
    description: row.description,
    version: row.version,
    created_at: row.createdAt.toISOString(),
    updated_at: row.updatedAt.toISOString(),
  };
}

export function presentPage({ rows, nextCursor }: SecretRows): SecretPage {
  return { data: rows.map(presentItem), next_cursor: nextCursor };
}

export function presentSecret({ row, users }: SecretView): SecretDetail {
  return { ...presentItem(row), used_by: users.map(showUser) };
}
