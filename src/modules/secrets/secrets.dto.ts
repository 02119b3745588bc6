import { ApiProperty } from '@nestjs/swagger';
import { IsIn, IsInt, IsOptional, IsString, Length, Matches, Max, MaxLength, Min } from 'class-validator';
import { Examples } from '#http/openapi-examples.js';
import { Fixed } from '#http/schemas.js';
import { CanBeNull, CanBeOmitted, IsArrayOf, IsDateTime } from '#http/validation.js';
import { noSuch } from '#kernel/errors.js';
import { type Id, parseId, showId } from '#kernel/ids.js';
import type { NewSecret, SecretChanges } from './secret-keeper.js';
import { showUser } from './secret-users.js';
import type { SecretEntity } from './secrets.entities.js';
import type { SecretRows, SecretView } from './secrets.service.js';

const USER_KINDS = ['destination', 'endpoint'] as const;

/** Page of the list of secrets. */
export class SecretListQuery {
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

/** The secret to create. */
export class NewSecretBody {
  /** Name used in `{{secrets.NAME}}`. It is unique within the environment and cannot be changed. */
  @ApiProperty({ example: 'CRM_TOKEN' })
  @IsString()
  @Matches(/^[A-Za-z_][A-Za-z0-9_]{0,63}$/u)
  name: string;

  /** Value of the secret, at most 16 KB in UTF-8. It is stored encrypted and never returned. */
  @ApiProperty({ example: 'tok_8Kd2mQ' })
  @IsString()
  @Length(1, 16_384)
  value: string;

  /** Purpose of the secret. */
  @ApiProperty({ example: 'The CRM, read and write' })
  @IsOptional()
  @IsString()
  @MaxLength(500)
  description?: string | null;
}

/** Secret fields to change. Omitted fields keep their values. */
@Fixed({ name: 'cannot be changed: create another secret' })
@Examples({
  value: { summary: 'A new value', value: { value: 'tok_9Ws4nR' } },
})
export class SecretChangesBody {
  /** New value. It creates a new version, which is in effect on every node within five seconds. */
  @ApiProperty({ example: 'tok_9Ws4nR' })
  @CanBeOmitted()
  @IsString()
  @Length(1, 16_384)
  value?: string;

  /** Purpose of the secret; `null` removes it. */
  @ApiProperty({ example: 'The CRM, read and write' })
  @IsOptional()
  @IsString()
  @MaxLength(500)
  description?: string | null;
}

/** A secret, without its value. */
export class SecretItem {
  /** Id of the secret. */
  @ApiProperty({ example: 'sec_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1' })
  @IsString()
  id: string;

  /** Name used in `{{secrets.NAME}}`. */
  @ApiProperty({ example: 'CRM_TOKEN' })
  @IsString()
  name: string;

  /** Purpose of the secret; `null` if none is set. */
  @ApiProperty({ example: 'The CRM, read and write' })
  @CanBeNull()
  @IsString()
  description: string | null;

  /** Version of the value. Each new value increments it. */
  @ApiProperty({ example: 1 })
  @IsInt()
  version: number;

  /** Time of creation. */
  @ApiProperty({ example: '2026-11-21T09:30:00.000Z' })
  @IsDateTime()
  created_at: string;

  /** Time of the last change to the value or the description. */
  @ApiProperty({ example: '2026-11-21T09:30:00.000Z' })
  @IsDateTime()
  updated_at: string;
}

/** One page of secrets, newest first. */
export class SecretPage {
  /** Secrets on this page. */
  @IsArrayOf(() => SecretItem)
  data: SecretItem[];

  /** Value for `cursor` to get the next page; `null` on the last page. */
  @ApiProperty({ example: null })
  @CanBeNull()
  @IsString()
  next_cursor: string | null;
}

/** A resource that uses a secret. */
export class SecretUserItem {
  /** Kind of the resource that uses the secret. */
  @ApiProperty({ example: 'destination' })
  @IsIn(USER_KINDS)
  kind: (typeof USER_KINDS)[number];

  /** Id of the resource. */
  @ApiProperty({ example: 'dst_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1' })
  @IsString()
  id: string;
}

/** A secret with the resources that use it, without its value. */
export class SecretDetail extends SecretItem {
  /** The first 100 resources that use the secret. A secret in use cannot be deleted. */
  @IsArrayOf(() => SecretUserItem)
  used_by: SecretUserItem[];
}

/** Returns the secret id in a path. Throws 404 for a text that is not a secret id. */
export function secretId(text: string): Id {
  const id = parseId('sec', text);
  if (id === null) throw noSuch('secret');
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
