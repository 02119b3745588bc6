import { ApiProperty } from '@nestjs/swagger';
import { Examples } from '#http/openapi-examples.js';
import { Fixed } from '#http/schemas.js';
import type { TypeDraft } from './drafts.js';
import type { EventTypeEntity } from './event-types.entities.js';
import type { Page } from './event-types.service.js';
import type { ListedType, TypeVersion } from './event-types.store.js';

const SCHEMA_EXAMPLE = { type: 'object', required: ['amount'], properties: { amount: { type: 'integer' } } };
const OBJECT_OR_NULL = { type: 'object', additionalProperties: true, nullable: true } as const;

/** Where in the list of event types, and which of them. */
export class EventTypeListQuery {
  /** Only those of this group. */
  @ApiProperty({ required: false, minLength: 1, maxLength: 100, example: 'Billing' })
  group?: string;

  /** Whether to list those that are archived, which are left out otherwise, or those that are not. */
  @ApiProperty({ required: false, type: Boolean, default: false, example: false })
  archived?: boolean;

  /** Where to go on: the `next_cursor` of the page before. */
  @ApiProperty({ required: false, maxLength: 1024, example: 'WyIwMTlhOWY2NS0uLi4iXQ.c2lnbmF0dXJl' })
  cursor?: string;

  /** How many to return. */
  @ApiProperty({ required: false, type: 'integer', minimum: 1, maximum: 100, default: 50, example: 50 })
  limit?: number;
}

/** Where in the list of versions. */
export class EventTypeVersionsQuery {
  /** Where to go on: the `next_cursor` of the page before. */
  @ApiProperty({ required: false, maxLength: 1024, example: 'WyIzIl0.c2lnbmF0dXJl' })
  cursor?: string;

  /** How many to return. */
  @ApiProperty({ required: false, type: 'integer', minimum: 1, maximum: 50, default: 20, example: 20 })
  limit?: number;
}

/** What to change of an event type: what is left out stays. */
@Fixed({ name: 'cannot be changed: create another event type' })
@Examples({
  description: { summary: 'What it says', value: { description: 'An invoice was paid, in full or in part.' } },
  enforce: { summary: 'Refuse payloads that break its schema', value: { enforce: true } },
  archive: { summary: 'Leave it out of the catalogue', value: { archived: true } },
})
export class EventTypeChangesBody {
  /** What it says and when it is sent; null takes it away. */
  @ApiProperty({
    required: false,
    type: String,
    maxLength: 2000,
    nullable: true,
    example: 'An invoice was paid in full.',
  })
  description?: string | null;

  /** The heading under which the catalogue shows it; null takes it away. */
  @ApiProperty({ required: false, type: String, minLength: 1, maxLength: 100, nullable: true, example: 'Billing' })
  group?: string | null;

  /** What a payload looks like, in JSON Schema 2020-12; null takes it away. One that differs is a new version. */
  @ApiProperty({ ...OBJECT_OR_NULL, selfRequired: false, example: SCHEMA_EXAMPLE })
  schema?: Record<string, unknown> | null;

  /** A payload to show; it has to fit the schema. Null takes it away. */
  @ApiProperty({ ...OBJECT_OR_NULL, selfRequired: false, example: { amount: 4200 } })
  example?: Record<string, unknown> | null;

  /** Whether a payload that breaks the schema is refused with 422; needs a schema. */
  @ApiProperty({ required: false, type: Boolean, example: false })
  enforce?: boolean;

  /** Whether it is left out of the catalogue and of lists. It may still be sent, and is still enforced. */
  @ApiProperty({ required: false, type: Boolean, example: false })
  archived?: boolean;
}

/** The event type to add. */
@Examples({
  described: {
    summary: 'A type with a schema',
    value: {
      name: 'invoice.paid',
      description: 'An invoice was paid in full.',
      schema: SCHEMA_EXAMPLE,
      example: { amount: 4200 },
    },
  },
  name: { summary: 'A name alone', value: { name: 'customer.created' } },
})
export class NewEventTypeBody extends EventTypeChangesBody {
  /** The `event_type` of a send: up to 256 letters, digits and `. _ - : /`; unique in the environment, and never changed. */
  @ApiProperty({ minLength: 1, maxLength: 256, pattern: '^[A-Za-z0-9._:/-]+$', example: 'invoice.paid' })
  name: string;
}

/** An event type in a list. */
export class EventTypeItem {
  /** The `event_type` of a send. */
  @ApiProperty({ example: 'invoice.paid' })
  name: string;

  /** What it says and when it is sent. */
  @ApiProperty({ type: String, nullable: true, example: 'An invoice was paid in full.' })
  description: string | null;

  /** The heading under which the catalogue shows it. */
  @ApiProperty({ type: String, nullable: true, example: 'Billing' })
  group: string | null;

  /** Rises with every change of the schema, from 1. */
  @ApiProperty({ type: 'integer', example: 1 })
  version: number;

  /** Whether it has a schema. */
  @ApiProperty({ example: true })
  has_schema: boolean;

  /** Whether a payload that breaks the schema is refused. */
  @ApiProperty({ example: false })
  enforce: boolean;

  /** Whether it is left out of the catalogue and of lists. */
  @ApiProperty({ example: false })
  archived: boolean;

  /** When it was created. */
  @ApiProperty({ format: 'date-time', example: '2026-11-21T09:30:00.000Z' })
  created_at: string;

  /** When it was changed last. */
  @ApiProperty({ format: 'date-time', example: '2026-11-21T09:30:00.000Z' })
  updated_at: string;
}

/** An event type with its schema and its example. */
export class EventTypeDetail extends EventTypeItem {
  /** What a payload looks like, in JSON Schema 2020-12. */
  @ApiProperty({ ...OBJECT_OR_NULL, example: SCHEMA_EXAMPLE })
  schema: Record<string, unknown> | null;

  /** A payload to show. */
  @ApiProperty({ ...OBJECT_OR_NULL, example: { amount: 4200 } })
  example: Record<string, unknown> | null;
}

/** One page of event types, newest first. */
export class EventTypePage {
  /** The event types of this page. */
  @ApiProperty({ type: [EventTypeItem] })
  data: EventTypeItem[];

  /** Pass it as `cursor` for the next page; null on the last one. */
  @ApiProperty({ type: String, nullable: true, example: null })
  next_cursor: string | null;
}

/** One version of an event type's schema. */
export class EventTypeVersionItem {
  /** Counts the schemas from 1. */
  @ApiProperty({ type: 'integer', example: 1 })
  version: number;

  /** The schema of this version; null where it had none. */
  @ApiProperty({ ...OBJECT_OR_NULL, example: SCHEMA_EXAMPLE })
  schema: Record<string, unknown> | null;

  /** Since when. */
  @ApiProperty({ format: 'date-time', example: '2026-11-21T09:30:00.000Z' })
  created_at: string;
}

/** One page of versions, newest first. */
export class EventTypeVersionPage {
  /** The versions of this page. */
  @ApiProperty({ type: [EventTypeVersionItem] })
  data: EventTypeVersionItem[];

  /** Pass it as `cursor` for the next page; null on the last one. */
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
