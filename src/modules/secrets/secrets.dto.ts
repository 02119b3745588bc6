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

/** Page of the list of secrets. */
export class SecretListQuery {
  /** Start of the page: the `next_cursor` of the previous page. */
  @ApiProperty({ required: false, maxLength: 1024, example: 'WyIwMTlhOWY2NS0uLi4iXQ.c2lnbmF0dXJl' })
  cursor?: string;

  /** Maximum number of items to return. */
  @ApiProperty({ required: false, type: 'integer', minimum: 1, maximum: 100, default: 50, example: 50 })
  limit?: number;
}

/** The secret to create. */
export class NewSecretBody {
  /** Name used in `{{secrets.NAME}}`. It is unique within the environment and cannot be changed. */
  @ApiProperty({ pattern: '^[A-Za-z_][A-Za-z0-9_]{0,63}$', example: 'CRM_TOKEN' })
  name: string;

  /** Value of the secret, at most 16 KB in UTF-8. It is stored encrypted and never returned. */
  @ApiProperty({ minLength: 1, maxLength: 16_384, example: 'tok_8Kd2mQ' })
  value: string;

  /** Purpose of the secret. */
  @ApiProperty({ required: false, type: String, maxLength: 500, nullable: true, example: 'The CRM, read and write' })
  description?: string | null;
}

/** Secret fields to change. Omitted fields keep their values. */
@Fixed({ name: 'cannot be changed: create another secret' })
@Examples({
  value: { summary: 'A new value', value: { value: 'tok_9Ws4nR' } },
})
export class SecretChangesBody {
  /** New value. It creates a new version, which is in effect on every node within five seconds. */
  @ApiProperty({ required: false, minLength: 1, maxLength: 16_384, example: 'tok_9Ws4nR' })
  value?: string;

  /** Purpose of the secret; `null` removes it. */
  @ApiProperty({ required: false, type: String, maxLength: 500, nullable: true, example: 'The CRM, read and write' })
  description?: string | null;
}

/** A secret, without its value. */
export class SecretItem {
  /** Id of the secret. */
  @ApiProperty({ example: 'sec_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1' })
  id: string;

  /** Name used in `{{secrets.NAME}}`. */
  @ApiProperty({ example: 'CRM_TOKEN' })
  name: string;

  /** Purpose of the secret; `null` if none is set. */
  @ApiProperty({ type: String, nullable: true, example: 'The CRM, read and write' })
  description: string | null;

  /** Version of the value. Each new value increments it. */
  @ApiProperty({ type: 'integer', example: 1 })
  version: number;

  /** Time of creation. */
  @ApiProperty({ format: 'date-time', example: '2026-11-21T09:30:00.000Z' })
  created_at: string;

  /** Time of the last change to the value or the description. */
  @ApiProperty({ format: 'date-time', example: '2026-11-21T09:30:00.000Z' })
  updated_at: string;
}

/** One page of secrets, newest first. */
export class SecretPage {
  /** Secrets on this page. */
  @ApiProperty({ type: [SecretItem] })
  data: SecretItem[];

  /** Value for `cursor` to get the next page; `null` on the last page. */
  @ApiProperty({ type: String, nullable: true, example: null })
  next_cursor: string | null;
}

/** A resource that uses a secret. */
export class SecretUserItem {
  /** Kind of resource. */
  @ApiProperty({ enum: USER_KINDS, example: 'destination' })
  kind: (typeof USER_KINDS)[number];

  /** Id of the resource. */
  @ApiProperty({ example: 'dst_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1' })
  id: string;
}

/** A secret with the resources that use it, without its value. */
export class SecretDetail extends SecretItem {
  /** The first 100 resources that use the secret. A secret in use cannot be deleted. */
  @ApiProperty({ type: [SecretUserItem] })
  used_by: SecretUserItem[];
}

/** Returns the secret id in a path. Throws 404 for a text that is not a secret id. */
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
