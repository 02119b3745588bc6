import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { showId } from '#kernel/ids.js';
import type { SentMessage } from '#modules/events/reading.contract.js';
import type { ApplicationEntity } from './applications.entities.js';
import type { ApplicationRows } from './applications.service.js';

export const METADATA = { type: 'object', additionalProperties: { type: 'string' }, example: { plan: 'pro' } } as const;

/** Where a list begins, and how long its page is. */
export class ApplicationListQuery {
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

/** One page of messages, newest first. */
export class MessagePage {
  /** The messages of this page; their events are at `GET /v1/events?message_id=`. */
  @ApiProperty({ type: [MessageItem] })
  data: MessageItem[];

  /** Pass it as `cursor` for the next page; null on the last one. */
  @ApiProperty({ type: String, nullable: true, example: null })
  next_cursor: string | null;
}

export function presentApplication({ id, uid, name, metadata, createdAt, updatedAt }: ApplicationEntity): ApplicationItem {
  return { id: showId('app', id), uid, name, metadata, created_at: createdAt.toISOString(), updated_at: updatedAt.toISOString() };
}

export function presentApplications({ rows, nextCursor }: ApplicationRows): ApplicationPage {
  return { data: rows.map(presentApplication), next_cursor: nextCursor };
}

export function presentMessage({ id, eventType, channels, fanout, payloadBytes, acceptedAt }: SentMessage): MessageItem {
  return { id: showId('msg', id), event_type: eventType, channels, fanout, payload_bytes: payloadBytes, created_at: acceptedAt.toISOString() };
}
