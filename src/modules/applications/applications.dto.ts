import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { ListCount, listCount } from '#http/list-count.dto.js';
import { Examples } from '#http/openapi-examples.js';
import { shownHeaders } from '#kernel/crypto/sensitive-headers.js';
import { PREFIX_LENGTH_MAX } from '#kernel/database/prefix.js';
import { showId } from '#kernel/ids.js';
import type { Caller } from '#kernel/tenant.js';
import type { MessageContent, SentMessage } from '#modules/events/messages.contract.js';
import type { ApplicationEntity } from './applications.entities.js';
import type { ApplicationRows } from './applications.service.js';

export const METADATA = { type: 'object', additionalProperties: { type: 'string' }, example: { plan: 'pro' } } as const;

/** Where a list begins, and how long its page is. */
export class ApplicationListQuery {
  /** Only applications whose name or uid begins with this, whatever the case. */
  @ApiProperty({ required: false, minLength: 1, maxLength: PREFIX_LENGTH_MAX, example: 'acm' })
  search?: string;

  /** True to say beside the page how many match the filters, up to 1,000. */
  @ApiProperty({ required: false, type: Boolean, default: false, example: true })
  count?: boolean;

  /** Where to go on: the `next_cursor` of the page before. */
  @ApiProperty({ required: false, maxLength: 1024, example: 'WyIwMTlhOWY2NS0uLi4iXQ.c2lnbmF0dXJl' })
  cursor?: string;

  /** How many to return. */
  @ApiProperty({ required: false, type: 'integer', minimum: 1, maximum: 100, default: 50, example: 50 })
  limit?: number;
}

/** How to create an application. */
export class ApplicationCreationQuery {
  /** Answer 200 with the application that has the uid already, instead of 409. */
  @ApiProperty({ required: false, type: Boolean, default: false, example: true })
  get_if_exists?: boolean;
}

/** The application to create. */
@Examples({
  customer: { summary: 'A customer by your own id', value: { uid: 'customer-42', name: 'Acme Inc.' } },
})
export class NewApplicationBody {
  /** Your own id of the customer: 1 to 256 letters, digits and `. _ : @ + ~ -`, not beginning with `app_`. */
  @ApiProperty({ required: false, type: String, maxLength: 256, nullable: true, example: 'customer-42' })
  uid?: string | null;

  /** What people know it by; the uid when left out. */
  @ApiProperty({ required: false, minLength: 1, maxLength: 200, example: 'Acme Inc.' })
  name?: string;

  /** Notes of your own: up to 50 keys of 1 to 40 characters, with values of up to 500. */
  @ApiPropertyOptional({ ...METADATA, nullable: true })
  metadata?: Record<string, string> | null;
}

/** What to change of an application: what is left out stays. */
@Examples({
  name: { summary: 'Another name', value: { name: 'Acme Corporation' } },
})
export class ApplicationChangesBody {
  /** Your own id of the customer; null takes it away. */
  @ApiProperty({ required: false, type: String, maxLength: 256, nullable: true, example: 'customer-42' })
  uid?: string | null;

  /** What people know it by. */
  @ApiProperty({ required: false, minLength: 1, maxLength: 200, example: 'Acme Inc.' })
  name?: string;

  /** Notes of your own, all of them; null clears them. */
  @ApiPropertyOptional({ ...METADATA, nullable: true })
  metadata?: Record<string, string> | null;
}

/** A customer of yours, with endpoints of its own. */
export class ApplicationItem {
  /** The application's id. */
  @ApiProperty({ example: 'app_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1' })
  id: string;

  /** Your own id of the customer; null without one. */
  @ApiProperty({ type: String, nullable: true, example: 'customer-42' })
  uid: string | null;

  /** What people know it by. */
  @ApiProperty({ example: 'Acme Inc.' })
  name: string;

  /** Notes of your own. */
  @ApiProperty(METADATA)
  metadata: Record<string, string>;

  /** When it was created. */
  @ApiProperty({ format: 'date-time', example: '2026-11-21T09:30:00.000Z' })
  created_at: string;

  /** When it was changed last, its endpoints not included. */
  @ApiProperty({ format: 'date-time', example: '2026-11-21T09:30:00.000Z' })
  updated_at: string;
}

/** An application by itself. */
export class ApplicationDetail extends ApplicationItem {
  /** How many endpoints it has; at most 1,000. */
  @ApiProperty({ type: 'integer', example: 3 })
  endpoint_count: number;
}

/** One page of applications, newest first. */
export class ApplicationPage {
  /** The applications of this page. */
  @ApiProperty({ type: [ApplicationItem] })
  data: ApplicationItem[];

  /** Pass it as `cursor` for the next page; null on the last one. */
  @ApiProperty({ type: String, nullable: true, example: null })
  next_cursor: string | null;

  /** How many match the filters, over all pages; only when `count` asks for it. */
  @ApiProperty({ type: ListCount, required: false })
  count?: ListCount;
}

/** A message that was sent to an application. */
export class MessageItem {
  /** The message's id, which is the `webhook-id` of all its deliveries. */
  @ApiProperty({ example: 'msg_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1' })
  id: string;

  /** The type that it was sent with. */
  @ApiProperty({ example: 'invoice.paid' })
  event_type: string;

  /** The channels that it was sent with. */
  @ApiProperty({ type: [String], example: ['project-42'] })
  channels: string[];

  /** How many endpoints it went to. */
  @ApiProperty({ type: 'integer', example: 3 })
  fanout: number;

  /** How large its payload is, in bytes. */
  @ApiProperty({ type: 'integer', example: 1204 })
  payload_bytes: number;

  /** When it was accepted. */
  @ApiProperty({ format: 'date-time', example: '2026-11-21T09:30:00.000Z' })
  created_at: string;
}

/** A message with what it said. */
export class MessageDetail extends MessageItem {
  /** The application that it was sent to. */
  @ApiProperty({ example: 'app_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1' })
  application: string;

  /** Headers that are forwarded with it. */
  @ApiProperty({ type: 'object', additionalProperties: { type: 'string' }, example: { 'x-tenant': '42' } })
  headers: Record<string, string>;

  /** The payload, in the very characters that it was sent with; absent when it is over 256 KB, and when it was erased. */
  @ApiProperty({ selfRequired: false, type: 'object', additionalProperties: true, example: { amount: 4200 } })
  payload?: Record<string, unknown>;

  /** True when the payload is left out because it is over 256 KB: `GET /v1/events/{id}/payload` has it. */
  @ApiProperty({ required: false, example: true })
  payload_truncated?: boolean;

  /** When its payload was erased; absent while it is there. */
  @ApiProperty({ required: false, format: 'date-time', example: '2026-11-21T09:30:00.000Z' })
  payload_erased_at?: string;
}

/** One page of messages, newest first. */
export class MessagePage {
  /** The messages of this page; their events are at `GET /v1/events?message_id=`. */
  @ApiProperty({ type: [MessageItem] })
  data: MessageItem[];

  /** Pass it as `cursor` for the next page; null on the last one. */
  @ApiProperty({ type: String, nullable: true, example: null })
  next_cursor: string | null;
}

export function presentApplication({
  id,
  uid,
  name,
  metadata,
  createdAt,
  updatedAt,
}: ApplicationEntity): ApplicationItem {
  return {
    id: showId('app', id),
    uid,
    name,
    metadata,
    created_at: createdAt.toISOString(),
    updated_at: updatedAt.toISOString(),
  };
}

export function presentApplications({ rows, nextCursor, count }: ApplicationRows): ApplicationPage {
  return {
    data: rows.map(presentApplication),
    next_cursor: nextCursor,
    ...(count !== null && { count: listCount(count) }),
  };
}

export function presentMessage({
  id,
  eventType,
  channels,
  fanout,
  payloadBytes,
  acceptedAt,
}: SentMessage): MessageItem {
  return {
    id: showId('msg', id),
    event_type: eventType,
    channels,
    fanout,
    payload_bytes: payloadBytes,
    created_at: acceptedAt.toISOString(),
  };
}

/** As JSON text: the payload goes in as the characters that it was sent with. */
export function presentMessageDetail(
  { payload, applicationId, headers, erasedAt, ...message }: MessageContent,
  caller: Caller,
): string {
  const detail: MessageDetail = {
    ...presentMessage(message),
    application: showId('app', applicationId),
    headers: shownHeaders(headers ?? {}, caller),
    ...(erasedAt !== null && { payload_erased_at: erasedAt.toISOString() }),
    ...(payload === null && erasedAt === null && { payload_truncated: true }),
  };
  const text = JSON.stringify(detail);
  return payload === null ? text : `${text.slice(0, -1)},"payload":${payload}}`;
}
