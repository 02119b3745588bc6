import { ApiProperty } from '@nestjs/swagger';
import { Examples } from '#http/openapi-examples.js';
import { Fixed } from '#http/schemas.js';
import type { TypeDraft } from './drafts.js';
import type { EventTypeEntity } from './event-types.entities.js';
import type { Page } from './event-types.service.js';
import type { ListedType, TypeVersion } from './event-types.store.js';

const SCHEMA_EXAMPLE = { type: 'object', required: ['amount'], properties: { amount: { type: 'integer' } } };
const OBJECT_OR_NULL = { type: 'object', additionalProperties: true, nullable: true } as const;

/** Filters and page for the list of event types. */
export class EventTypeListQuery {
  /** Returns only event types in this group. */
  @ApiProperty({ required: false, minLength: 1, maxLength: 100, example: 'Billing' })
  group?: string;

  /**
   * If true, returns only archived event types. If false or omitted, returns only event types that are not archived.
   */
  @ApiProperty({ required: false, type: Boolean, default: false, example: false })
  archived?: boolean;

  /** Start of the page: the `next_cursor` of the previous page. */
  @ApiProperty({ required: false, maxLength: 1024, example: 'WyIwMTlhOWY2NS0uLi4iXQ.c2lnbmF0dXJl' })
  cursor?: string;

  /** Maximum number of items to return. */
  @ApiProperty({ required: false, type: 'integer', minimum: 1, maximum: 100, default: 50, example: 50 })
  limit?: number;
}

/** Page of the list of versions. */
export class EventTypeVersionsQuery {
  /** Start of the page: the `next_cursor` of the previous page. */
  @ApiProperty({ required: false, maxLength: 1024, example: 'WyIzIl0.c2lnbmF0dXJl' })
  cursor?: string;

  /** Maximum number of items to return. */
  @ApiProperty({ required: false, type: 'integer', minimum: 1, maximum: 50, default: 20, example: 20 })
  limit?: number;
}

/** Event type fields to change. Omitted fields keep their values. */
@Fixed({ name: 'cannot be changed: create another event type' })
@Examples({
  description: {
    summary: 'Change the description',
    value: { description: 'An invoice was paid, in full or in part.' },
  },
  enforce: { summary: 'Reject payloads that do not match the schema', value: { enforce: true } },
  archive: { summary: 'Hide the event type from the catalogue', value: { archived: true } },
})
export class EventTypeChangesBody {
  /** Human-readable description of the event and of when it is sent; `null` removes it. */
  @ApiProperty({
    required: false,
    type: String,
    maxLength: 2000,
    nullable: true,
    example: 'An invoice was paid in full.',
  })
  description?: string | null;

  /** Heading under which the catalogue lists the event type; `null` removes it. */
  @ApiProperty({ required: false, type: String, minLength: 1, maxLength: 100, nullable: true, example: 'Billing' })
  group?: string | null;

  /** Schema of the payload in JSON Schema 2020-12; `null` removes it. A changed schema creates a new version. */
  @ApiProperty({ ...OBJECT_OR_NULL, selfRequired: false, example: SCHEMA_EXAMPLE })
  schema?: Record<string, unknown> | null;

  /** Example payload, which must match the schema; `null` removes it. */
  @ApiProperty({ ...OBJECT_OR_NULL, selfRequired: false, example: { amount: 4200 } })
  example?: Record<string, unknown> | null;

  /** Whether the API rejects payloads that do not match the schema with 422. Requires a schema. */
  @ApiProperty({ required: false, type: Boolean, example: false })
  enforce?: boolean;

  /**
   * Whether the event type is hidden from the catalogue and from lists. An archived type can still be sent, and its
   * schema is still enforced.
   */
  @ApiProperty({ required: false, type: Boolean, example: false })
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
  @ApiProperty({ minLength: 1, maxLength: 256, pattern: '^[A-Za-z0-9._:/-]+$', example: 'invoice.paid' })
  name: string;
}

/** An event type as listed. */
export class EventTypeItem {
  /** Value of `event_type` in a send request. */
  @ApiProperty({ example: 'invoice.paid' })
  name: string;

  /** Human-readable description of the event and of when it is sent. */
  @ApiProperty({ type: String, nullable: true, example: 'An invoice was paid in full.' })
  description: string | null;

  /** Heading under which the catalogue lists the event type. */
  @ApiProperty({ type: String, nullable: true, example: 'Billing' })
  group: string | null;

  /** Version of the schema, starting at 1. Each change of the schema increments it. */
  @ApiProperty({ type: 'integer', example: 1 })
  version: number;

  /** Whether the event type has a schema. */
  @ApiProperty({ example: true })
  has_schema: boolean;

  /** Whether the API rejects payloads that do not match the schema. */
  @ApiProperty({ example: false })
  enforce: boolean;

  /** Whether the event type is hidden from the catalogue and from lists. */
  @ApiProperty({ example: false })
  archived: boolean;

  /** Time of creation. */
  @ApiProperty({ format: 'date-time', example: '2026-11-21T09:30:00.000Z' })
  created_at: string;

  /** Time of the last change. */
  @ApiProperty({ format: 'date-time', example: '2026-11-21T09:30:00.000Z' })
  updated_at: string;
}

/** An event type with its schema and example. */
export class EventTypeDetail extends EventTypeItem {
  /** Schema of the payload in JSON Schema 2020-12. */
  @ApiProperty({ ...OBJECT_OR_NULL, example: SCHEMA_EXAMPLE })
  schema: Record<string, unknown> | null;

  /** Example payload. */
  @ApiProperty({ ...OBJECT_OR_NULL, example: { amount: 4200 } })
  example: Record<string, unknown> | null;
}

/** One page of event types, newest first. */
export class EventTypePage {
  /** Event types on this page. */
  @ApiProperty({ type: [EventTypeItem] })
  data: EventTypeItem[];

  /** Value for `cursor` to get the next page; `null` on the last page. */
  @ApiProperty({ type: String, nullable: true, example: null })
  next_cursor: string | null;
}

/** One version of an event type's schema. */
export class EventTypeVersionItem {
  /** Version number of the schema, starting at 1. */
  @ApiProperty({ type: 'integer', example: 1 })
  version: number;

  /** Schema in this version; `null` if this version has no schema. */
  @ApiProperty({ ...OBJECT_OR_NULL, example: SCHEMA_EXAMPLE })
  schema: Record<string, unknown> | null;

  /** Time at which this version was created. */
  @ApiProperty({ format: 'date-time', example: '2026-11-21T09:30:00.000Z' })
  created_at: string;
}

/** One page of versions, newest first. */
export class EventTypeVersionPage {
  /** Versions on this page. */
  @ApiProperty({ type: [EventTypeVersionItem] })
  data: EventTypeVersionItem[];

  /** Value for `cursor` to get the next page; `null` on the last page. */
  @ApiProperty({ type: String, nullable: true, example: null })
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
