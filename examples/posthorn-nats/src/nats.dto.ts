import { ApiProperty } from '@nestjs/swagger';
import { IsInt, IsString, Length, Max, MaxLength, Min } from 'class-validator';
import { CanBeNull, CanBeOmitted, IsArrayOf, IsDateTime } from 'posthorn';
import type { NatsSubjectHourEntity } from './nats.entities.js';

// `tsc`, which builds this package, does not turn comments into API descriptions. Therefore `@ApiProperty` contains
// them.

/** Page of the list of counts. */
export class NatsSubjectsQuery {
  @ApiProperty({
    description: 'Start of the page: the `next_cursor` of the previous page.',
    example: 'WyIyMDI2Il0.c2ln',
  })
  @CanBeOmitted()
  @IsString()
  @MaxLength(2048)
  cursor?: string;

  @ApiProperty({ default: 50, description: 'Maximum number of items to return.', example: 50 })
  @CanBeOmitted()
  @IsInt()
  @Min(1)
  @Max(100)
  limit?: number;
}

/** Number of messages published to one subject within one hour. */
export class NatsSubjectItem {
  @ApiProperty({ description: 'Name of the stream that stored the messages.', example: 'ORDERS' })
  @IsString()
  stream: string;

  @ApiProperty({ description: 'The subject.', example: 'orders.invoice.paid' })
  @IsString()
  subject: string;

  @ApiProperty({ description: 'Start of the hour.', example: '2026-11-21T09:00:00.000Z' })
  @IsDateTime()
  hour: string;

  @ApiProperty({ description: 'Number of messages stored.', example: 1200 })
  @IsInt()
  messages: number;

  @ApiProperty({ description: 'Total size of the message bodies in bytes.', example: 540_000 })
  @IsInt()
  bytes: number;
}

/** One page of counts, newest first. */
export class NatsSubjectPage {
  @ApiProperty({ description: 'Counts on this page.' })
  @IsArrayOf(() => NatsSubjectItem)
  data: NatsSubjectItem[];

  @ApiProperty({ description: 'Value for `cursor` to get the next page; `null` on the last page.', example: null })
  @CanBeNull()
  @IsString()
  next_cursor: string | null;
}

/** A subject to preview. */
export class NatsSubjectPreviewBody {
  @ApiProperty({ description: 'A subject in the syntax of `config.subject`.', example: 'orders.{event_type}' })
  @IsString()
  @Length(1, 255)
  subject: string;

  @ApiProperty({ description: 'Event type to preview.', example: 'invoice.paid' })
  @IsString()
  @Length(1, 255)
  event_type: string;
}

/** Result of the preview. */
export class NatsSubjectPreview {
  @ApiProperty({ description: 'Subject to which an event of this type is published.', example: 'orders.invoice.paid' })
  @IsString()
  subject: string;
}

export function presentSubject({ stream, subject, hour, messages, bytes }: NatsSubjectHourEntity): NatsSubjectItem {
  return { stream, subject, hour: hour.toISOString(), messages: Number(messages), bytes: Number(bytes) };
}
