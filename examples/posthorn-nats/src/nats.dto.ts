import { ApiProperty } from '@nestjs/swagger';
import type { NatsSubjectHourEntity } from './nats.entities.js';

// `nest build` reads types and comments through its Swagger plugin. `tsc`, which builds this package, does not.
// Therefore each field declares its type and description in a decorator.

/** Page of the list of counts. */
export class NatsSubjectsQuery {
  @ApiProperty({
    required: false,
    type: String,
    maxLength: 2048,
    description: 'Start of the page: the `next_cursor` of the previous page.',
    example: 'WyIyMDI2Il0.c2ln',
  })
  cursor?: string;

  @ApiProperty({
    required: false,
    type: 'integer',
    minimum: 1,
    maximum: 100,
    default: 50,
    description: 'Maximum number of items to return.',
    example: 50,
  })
  limit?: number;
}

/** Number of messages published to one subject within one hour. */
export class NatsSubjectItem {
  @ApiProperty({ type: String, description: 'Name of the stream that stored the messages.', example: 'ORDERS' })
  stream: string;

  @ApiProperty({ type: String, description: 'The subject.', example: 'orders.invoice.paid' })
  subject: string;

  @ApiProperty({
    type: String,
    format: 'date-time',
    description: 'Start of the hour.',
    example: '2026-11-21T09:00:00.000Z',
  })
  hour: string;

  @ApiProperty({ type: 'integer', description: 'Number of messages stored.', example: 1200 })
  messages: number;

  @ApiProperty({ type: 'integer', description: 'Total size of the message bodies in bytes.', example: 540_000 })
  bytes: number;
}

/** One page of counts, newest first. */
export class NatsSubjectPage {
  @ApiProperty({ type: [NatsSubjectItem], description: 'Counts on this page.' })
  data: NatsSubjectItem[];

  @ApiProperty({
    type: String,
    nullable: true,
    description: 'Value for `cursor` to get the next page; `null` on the last page.',
    example: null,
  })
  next_cursor: string | null;
}

/** A subject to preview. */
export class NatsSubjectPreviewBody {
  @ApiProperty({
    type: String,
    minLength: 1,
    maxLength: 255,
    description: 'A subject in the syntax of `config.subject`.',
    example: 'orders.{event_type}',
  })
  subject: string;

  @ApiProperty({
    type: String,
    minLength: 1,
    maxLength: 255,
    description: 'Event type to preview.',
    example: 'invoice.paid',
  })
  event_type: string;
}

/** Result of the preview. */
export class NatsSubjectPreview {
  @ApiProperty({
    type: String,
    description: 'Subject to which an event of this type is published.',
    example: 'orders.invoice.paid',
  })
  subject: string;
}

export function presentSubject({ stream, subject, hour, messages, bytes }: NatsSubjectHourEntity): NatsSubjectItem {
  return { stream, subject, hour: hour.toISOString(), messages: Number(messages), bytes: Number(bytes) };
}
