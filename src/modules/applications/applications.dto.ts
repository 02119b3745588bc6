import { ApiProperty } from '@nestjs/swagger';
import {
  IsArray,
  IsBoolean,
  IsInt,
  IsObject,
  IsOptional,
  IsString,
  Length,
  Max,
  MaxLength,
  Min,
} from 'class-validator';
import { ListCount, listCount } from '#http/list-count.dto.js';
import { Examples } from '#http/openapi-examples.js';
import { CanBeNull, CanBeOmitted, IsArrayOf, IsDateTime, IsObjectOf, IsStringMap } from '#http/validation.js';
import { shownHeaders } from '#kernel/crypto/sensitive-headers.js';
import { PREFIX_LENGTH_MAX } from '#kernel/database/prefix.js';
import { showId } from '#kernel/ids.js';
import type { Caller } from '#kernel/tenant.js';
import type { MessageContent, SentMessage } from '#modules/events/messages.contract.js';
import type { ApplicationEntity } from './applications.entities.js';
import type { ApplicationRows } from './applications.service.js';

/** Filters and page size for the list of applications. */
export class ApplicationListQuery {
  /** Returns only applications whose name or uid begins with this text. Case is ignored. */
  @ApiProperty({ example: 'acm' })
  @CanBeOmitted()
  @IsString()
  @Length(1, PREFIX_LENGTH_MAX)
  search?: string;

  /** If true, the response also has the number of applications that match the filters, up to 1,000. */
  @ApiProperty({ default: false, example: true })
  @CanBeOmitted()
  @IsBoolean()
  count?: boolean;

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

/** Options for creating an application. */
export class ApplicationCreationQuery {
  /** If true and the uid is taken, the response is the existing application with status 200, instead of 409. */
  @ApiProperty({ default: false, example: true })
  @CanBeOmitted()
  @IsBoolean()
  get_if_exists?: boolean;
}

/** The application to create. */
@Examples({
  customer: { summary: 'A customer, identified by your own id', value: { uid: 'customer-42', name: 'Acme Inc.' } },
})
export class NewApplicationBody {
  /** Your own id for this application: 1 to 256 letters, digits and `. _ : @ + ~ -`. It must not begin with `app_`. */
  @ApiProperty({ example: 'customer-42' })
  @IsOptional()
  @IsString()
  @MaxLength(256)
  uid?: string | null;

  /** Human-readable name. Defaults to the uid. */
  @ApiProperty({ example: 'Acme Inc.' })
  @CanBeOmitted()
  @IsString()
  @Length(1, 200)
  name?: string;

  /** Your own key-value data: up to 50 keys of 1 to 40 characters each, with values of up to 500 characters. */
  @ApiProperty({ example: { plan: 'pro' } })
  @IsOptional()
  @IsStringMap()
  metadata?: Record<string, string> | null;
}

/** Application fields to change. Omitted fields keep their values. */
@Examples({
  name: { summary: 'Change the name', value: { name: 'Acme Corporation' } },
})
export class ApplicationChangesBody {
  /** Your own id for this application; `null` removes it. */
  @ApiProperty({ example: 'customer-42' })
  @IsOptional()
  @IsString()
  @MaxLength(256)
  uid?: string | null;

  /** Human-readable name. */
  @ApiProperty({ example: 'Acme Inc.' })
  @CanBeOmitted()
  @IsString()
  @Length(1, 200)
  name?: string;

  /** Your own key-value data. The value replaces all existing keys; `null` removes them. */
  @ApiProperty({ example: { plan: 'pro' } })
  @IsOptional()
  @IsStringMap()
  metadata?: Record<string, string> | null;
}

/** One of your customers, with its own endpoints. */
export class ApplicationItem {
  /** Id of the application. */
  @ApiProperty({ example: 'app_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1' })
  @IsString()
  id: string;

  /** Your own id for the customer that this application represents; `null` if you have not set one. */
  @ApiProperty({ example: 'customer-42' })
  @CanBeNull()
  @IsString()
  uid: string | null;

  /** Human-readable name. */
  @ApiProperty({ example: 'Acme Inc.' })
  @IsString()
  name: string;

  /** Your own key-value data. */
  @ApiProperty({ example: { plan: 'pro' } })
  @IsStringMap()
  metadata: Record<string, string>;

  /** Time of creation. */
  @ApiProperty({ example: '2026-11-21T09:30:00.000Z' })
  @IsDateTime()
  created_at: string;

  /** Time of the last change to the application. Changes to its endpoints do not count. */
  @ApiProperty({ example: '2026-11-21T09:30:00.000Z' })
  @IsDateTime()
  updated_at: string;
}

/** An application with its number of endpoints. */
export class ApplicationDetail extends ApplicationItem {
  /** Number of endpoints; at most 1,000. */
  @ApiProperty({ example: 3 })
  @IsInt()
  endpoint_count: number;
}

/** One page of applications, newest first. */
export class ApplicationPage {
  /** Applications on this page. */
  @IsArrayOf(() => ApplicationItem)
  data: ApplicationItem[];

  /** Value for `cursor` to get the next page; `null` on the last page. */
  @ApiProperty({ example: null })
  @CanBeNull()
  @IsString()
  next_cursor: string | null;

  /** Number of applications that match the filters, across all pages. Present only if `count` is set. */
  @CanBeOmitted()
  @IsObjectOf(() => ListCount)
  count?: ListCount;
}

/** A message sent to an application. */
export class MessageItem {
  /** Id of the message; receivers see it as `webhook-id` in all its deliveries. */
  @ApiProperty({ example: 'msg_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1' })
  @IsString()
  id: string;

  /** Event type of the message. */
  @ApiProperty({ example: 'invoice.paid' })
  @IsString()
  event_type: string;

  /** Channels of the message. */
  @ApiProperty({ example: ['project-42'] })
  @IsArray()
  @IsString({ each: true })
  channels: string[];

  /** Number of endpoints that the message was sent to. */
  @ApiProperty({ example: 3 })
  @IsInt()
  fanout: number;

  /** Size of the payload in bytes. */
  @ApiProperty({ example: 1204 })
  @IsInt()
  payload_bytes: number;

  /** Time at which the message was accepted. */
  @ApiProperty({ example: '2026-11-21T09:30:00.000Z' })
  @IsDateTime()
  created_at: string;
}

/** A message with its payload. */
export class MessageDetail extends MessageItem {
  /** Id of the application that the message was sent to. */
  @ApiProperty({ example: 'app_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1' })
  @IsString()
  application: string;

  /** Headers that are forwarded with the message. */
  @ApiProperty({ example: { 'x-tenant': '42' } })
  @IsStringMap()
  headers: Record<string, string>;

  /** Payload, byte for byte as it was sent. Absent if it exceeds 256 KB or was erased. */
  @ApiProperty({ example: { amount: 4200 } })
  @CanBeOmitted()
  @IsObject()
  payload?: Record<string, unknown>;

  /** True if the payload is omitted because it exceeds 256 KB. `GET /v1/events/{id}/payload` returns it. */
  @ApiProperty({ example: true })
  @CanBeOmitted()
  @IsBoolean()
  payload_truncated?: boolean;

  /** Time at which the payload was erased; absent if it was not erased. */
  @ApiProperty({ example: '2026-11-21T09:30:00.000Z' })
  @CanBeOmitted()
  @IsDateTime()
  payload_erased_at?: string;
}

/** One page of messages, newest first. */
export class MessagePage {
  /** Messages on this page. `GET /v1/events?message_id=` lists their events. */
  @IsArrayOf(() => MessageItem)
  data: MessageItem[];

  /** Value for `cursor` to get the next page; `null` on the last page. */
  @ApiProperty({ example: null })
  @CanBeNull()
  @IsString()
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

/** Returns the message as JSON text, with the payload byte for byte as it was sent. */
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
