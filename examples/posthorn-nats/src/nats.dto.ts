import { ApiProperty } from '@nestjs/swagger';
import type { NatsSubjectHourEntity } from './nats.entities.js';

// `nest build` reads types and comments through its Swagger plugin; `tsc`, which builds this, does not. So every field
// says here what it is.

/** Where in the list of counts. */
export class NatsSubjectsQuery {
  @ApiProperty({
    required: false,
    type: String,
    maxLength: 2048,
    description: 'Where to go on: the `next_cursor` of the page before.',
    example: 'WyIyMDI2Il0.c2ln',
  })
  cursor?: string;

  @ApiProperty({
    required: false,
    type: 'integer',
    minimum: 1,
    maximum: 100,
    default: 50,
    description: 'How many to return.',
    example: 50,
  })
  limit?: number;
}

/** What was published to one subject within one hour. */
export class NatsSubjectItem {
  @ApiProperty({ type: String, description: 'The stream that stored it.', example: 'ORDERS' })
  stream: string;

  @ApiProperty({ type: String, description: 'The subject.', example: 'orders.invoice.paid' })
  subject: string;

  @ApiProperty({
    type: String,
    format: 'date-time',
    description: 'When the hour began.',
    example: '2026-11-21T09:00:00.000Z',
  })
  hour: string;

  @ApiProperty({ type: 'integer', description: 'How many messages were stored.', example: 1200 })
  messages: number;

  @ApiProperty({ type: 'integer', description: 'The bytes of their bodies.', example: 540_000 })
  bytes: number;
}

/** One page of counts, newest first. */
export class NatsSubjectPage {
  @ApiProperty({ type: [NatsSubjectItem], description: 'The counts of this page.' })
  data: NatsSubjectItem[];

  @ApiProperty({
    type: String,
    nullable: true,
    description: 'Pass it as `cursor` for the next page; null on the last one.',
    example: null,
  })
  next_cursor: string | null;
}

/** A subject to try. */
export class NatsSubjectPreviewBody {
  @ApiProperty({
    type: String,
    minLength: 1,
    maxLength: 255,
    description: 'A subject as in `config.subject`.',
    example: 'orders.{event_type}',
  })
  subject: string;

  @ApiProperty({
    type: String,
    minLength: 1,
    maxLength: 255,
    description: 'The type of an event.',
    example: 'invoice.paid',
  })
  event_type: string;
}

/** What becomes of it. */
export class NatsSubjectPreview {
  @ApiProperty({ type: String, description: 'Where such an event is published.', example: 'orders.invoice.paid' })
  subject: string;
}

export function presentSubject({ stream, subject, hour, messages, bytes }: NatsSubjectHourEntity): NatsSubjectItem {
  return { stream, subject, hour: hour.toISOString(), messages: Number(messages), bytes: Number(bytes) };
}
