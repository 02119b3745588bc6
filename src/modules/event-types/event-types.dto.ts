import { ApiProperty } from '@nestjs/swagger';
import {
  IsBoolean,
  IsInt,
  IsObject,
  IsOptional,
  IsString,
  Length,
  Matches,
  Max,
  MaxLength,
  Min,
} from 'class-validator';
import { Examples } from '#http/openapi-examples.js';
import { Fixed } from '#http/schemas.js';
import { CanBeNull, CanBeOmitted, IsArrayOf, IsDateTime } from '#http/validation.js';
import type { Page } from '#kernel/cursors.js';
import type { TypeDraft } from './drafts.js';
import type { EventTypeEntity } from './event-types.entities.js';
import type { ListedType, TypeVersion } from './event-types.store.js';

const SCHEMA_EXAMPLE = { type: 'object', required: ['amount'], properties: { amount: { type: 'integer' } } };

/** Filters and pagination parameters of the event type list. */
export class EventTypeListQuery {
  /** Returns only event types in this group. */
  @ApiProperty({ example: 'Billing' })
  @CanBeOmitted()
  @IsString()
  @Length(1, 100)
  group?: string;

  /**
   * If true, returns only archived event types. If false or omitted, returns only event types that are not archived.
   */
  @ApiProperty({ default: false, example: false })
  @CanBeOmitted()
  @IsBoolean()
  archived?: boolean;

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

/** Pagination parameters of the version list. */
export class EventTypeVersionsQuery {
  /** Cursor of the page to return: the `next_cursor` of the previous page. Returns the first page if omitted. */
  @ApiProperty({ example: 'WyIzIl0.c2lnbmF0dXJl' })
  @CanBeOmitted()
  @IsString()
  @MaxLength(1024)
  cursor?: string;

  /** Maximum number of items to return. */
  @ApiProperty({ default: 20, example: 20 })
  @CanBeOmitted()
  @IsInt()
  @Min(1)
  @Max(50)
  limit?: number;
}

/** Changes to an event type. Omitted fields keep their value. */
@Fixed({ name: 'cannot be changed: create another event type' })
@Examples({
  description: {
    summary: 'Change the description',
    value: { description: 'An invoice was paid, in full or in part.' },
  },
  enforce: { summary: 'Reject payloads that do not match the schema', value: { enforce: true } },
  archive: { summary: 'Hide the event type from the catalog', value: { archived: true } },
})
export class EventTypeChangesBody {
  /** Description of the event for human readers, including when it is sent. `null` removes the description. */
  @ApiProperty({ example: 'An invoice was paid in full.' })
  @IsOptional()
  @IsString()
  @MaxLength(2000)
  description?: string | null;

  /** Heading under which the catalog lists the event type. `null` removes the heading. */
  @ApiProperty({ example: 'Billing' })
  @IsOptional()
  @IsString()
  @Length(1, 100)
  group?: string | null;

  /** Payload schema in JSON Schema 2020-12. `null` removes the schema. A changed schema creates a new version. */
  @ApiProperty({ example: SCHEMA_EXAMPLE })
  @IsOptional()
  @IsObject()
  schema?: Record<string, unknown> | null;

  /** Example payload, which must match the schema. `null` removes the example. */
  @ApiProperty({ example: { amount: 4200 } })
  @IsOptional()
  @IsObject()
  example?: Record<string, unknown> | null;

  /** `true` if payloads that do not match the schema are rejected with 422. Requires a schema. */
  @ApiProperty({ example: false })
  @CanBeOmitted()
  @IsBoolean()
  enforce?: boolean;

  /**
   * `true` if the event type is hidden from the catalog and from lists. An archived type can still be sent, and its
   * schema is still enforced.
   */
  @ApiProperty({ example: false })
  @CanBeOmitted()
  @IsBoolean()
  archived?: boolean;
}

/** The event type to create. */
@Examples({
  described: {
    summary: 'An event type with a schema',
    value: {
      name: 'invoice.paid',
      description: 'An invoice was paid in full.',
      schema: SCHEMA_EXAMPLE,
      example: { amount: 4200 },
    },
  },
  name: { summary: 'An event type with only a name', value: { name: 'customer.created' } },
})
export class NewEventTypeBody extends EventTypeChangesBody {
  /**
   * Value of `event_type` in a send request: up to 256 letters, digits and `. _ - : /`. It is unique within the
   * environment and cannot be changed.
   */
  @ApiProperty({ example: 'invoice.paid' })
  @IsString()
  @Length(1, 256)
  @Matches(/^[A-Za-z0-9._:/-]+$/u)
  name: string;
}

/** An event type as shown in a list. */
export class EventTypeItem {
  /** Value of `event_type` in a send request. */
  @ApiProperty({ example: 'invoice.paid' })
  @IsString()
  name: string;

  /** Description of the event for human readers, including when it is sent. */
  @ApiProperty({ example: 'An invoice was paid in full.' })
  @CanBeNull()
  @IsString()
  description: string | null;

  /** Heading under which the catalog lists the event type. */
  @ApiProperty({ example: 'Billing' })
  @CanBeNull()
  @IsString()
  group: string | null;

  /** Version of the schema, starting at 1. Each change of the schema increments it. */
  @ApiProperty({ example: 1 })
  @IsInt()
  version: number;

  /** `true` if the event type has a schema. */
  @ApiProperty({ example: true })
  @IsBoolean()
  has_schema: boolean;

  /** `true` if the API rejects payloads that do not match the schema. */
  @ApiProperty({ example: false })
  @IsBoolean()
  enforce: boolean;

  /** `true` if the event type is hidden from the catalog and from lists. */
  @ApiProperty({ example: false })
  @IsBoolean()
  archived: boolean;

  /** Time of creation. */
  @ApiProperty({ example: '2026-11-21T09:30:00.000Z' })
  @IsDateTime()
  created_at: string;

  /** Time of the last change. */
  @ApiProperty({ example: '2026-11-21T09:30:00.000Z' })
  @IsDateTime()
  updated_at: string;
}

/** An event type with its schema and example. */
export class EventTypeDetail extends EventTypeItem {
  /** Schema of the payload in JSON Schema 2020-12. */
  @ApiProperty({ example: SCHEMA_EXAMPLE })
  @CanBeNull()
  @IsObject()
  schema: Record<string, unknown> | null;

  /** Example payload. */
  @ApiProperty({ example: { amount: 4200 } })
  @CanBeNull()
  @IsObject()
  example: Record<string, unknown> | null;
}

/** One page of event types, newest first. */
export class EventTypePage {
  /** Event types on this page. */
  @IsArrayOf(() => EventTypeItem)
  data: EventTypeItem[];

  /** Pass this value as `cursor` to get the next page. `null` on the last page. */
  @ApiProperty({ example: null })
  @CanBeNull()
  @IsString()
  next_cursor: string | null;
}

/** One version of an event type's schema. */
export class EventTypeVersionItem {
  /** Version number of the schema, starting at 1. */
  @ApiProperty({ example: 1 })
  @IsInt()
  version: number;

  /** Schema in this version. `null` if this version has no schema. */
  @ApiProperty({ example: SCHEMA_EXAMPLE })
  @CanBeNull()
  @IsObject()
  schema: Record<string, unknown> | null;

  /** Time at which this version was created. */
  @ApiProperty({ example: '2026-11-21T09:30:00.000Z' })
  @IsDateTime()
  created_at: string;
}

/** One page of versions, newest first. */
export class EventTypeVersionPage {
  /** Versions on this page. */
  @IsArrayOf(() => EventTypeVersionItem)
  data: EventTypeVersionItem[];

  /** Pass this value as `cursor` to get the next page. `null` on the last page. */
  @ApiProperty({ example: null })
  @CanBeNull()
  @IsString()
  next_cursor: string | null;
}

export function typeDraft(body: EventTypeChangesBody): TypeDraft {
  const { description = null, group = null, schema = null, example = null, enforce = false, archived = false } = body;
  return { description, group, schema, example, enforce, archived };
}

export function typeChanges({
  description,
  group,
  schema,
  example,
  enforce,
  archived,
}: EventTypeChangesBody): Partial<TypeDraft> {
  return { description, group, schema, example, enforce, archived };
}

export function presentType(row: EventTypeEntity): EventTypeDetail {
  return { ...presentListed({ ...row, hasSchema: row.schema !== null }), schema: row.schema, example: row.example };
}

export function presentTypes({ rows, nextCursor }: Page<ListedType>): EventTypePage {
  return { data: rows.map(presentListed), next_cursor: nextCursor };
}

export function presentVersions({ rows, nextCursor }: Page<TypeVersion>): EventTypeVersionPage {
  const data = rows.map(({ version, schema, createdAt }) => ({ version, schema, created_at: createdAt.toISOString() }));
  return { data, next_cursor: nextCursor };
}

function presentListed(row: ListedType): EventTypeItem {
  return {
    name: row.name,
    description: row.description,
    group: row.group,
    version: row.version,
    has_schema: row.hasSchema,
    enforce: row.enforce,
    archived: row.archived,
    created_at: row.createdAt.toISOString(),
    updated_at: row.updatedAt.toISOString(),
  };
}
