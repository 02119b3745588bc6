import { ApiProperty } from '@nestjs/swagger';
import { ArrayMaxSize, IsArray, IsInt, IsObject, IsString, Length, Matches } from 'class-validator';
import { FORWARDED_HEADERS_RULE } from '#engine/headers.js';
import { Verbatim } from '#http/schemas.js';
import { CanBeOmitted, IsStringMap } from '#http/validation.js';

/** An event for the subscribed endpoints of an application. */
export class EmitBody {
  /** The event type: up to 256 letters, digits and `. _ - : /`. */
  @ApiProperty({ example: 'invoice.paid' })
  @IsString()
  @Length(1, 256)
  @Matches(/^[A-Za-z0-9._:/-]+$/u)
  event_type: string;

  /** The body of the webhooks, up to 1 MB. It is delivered character for character as in this request. */
  @Verbatim()
  @ApiProperty({ example: { id: 'in_1', amount: 4200 } })
  @IsObject()
  payload: Record<string, unknown>;

  /**
   * Channels of the event. An endpoint that has channels receives the event only if one of its channels is listed here.
   */
  @ApiProperty({ example: ['project-42'] })
  @CanBeOmitted()
  @IsArray()
  @ArrayMaxSize(10)
  @IsString({ each: true })
  @Length(1, 256, { each: true })
  channels?: string[];

  /** Headers to forward with the deliveries. They take precedence over the destination's own headers. */
  @ApiProperty({
    description: `Headers to forward with the deliveries. They take precedence over the destination's own headers. ${FORWARDED_HEADERS_RULE}`,
    example: { 'x-tenant': '42' },
  })
  @CanBeOmitted()
  @IsStringMap()
  headers?: Record<string, string>;
}

/** Response to an accepted event. */
export class EventAccepted {
  /** The message's id. It is also the `webhook-id` of every delivery. */
  @ApiProperty({ example: 'msg_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1' })
  @IsString()
  message_id: string;

  /**
   * Number of endpoints that receive the event. If no endpoint subscribes to it, this is 0 and the message is stored as
   * one event with status `ignored`.
   */
  @ApiProperty({ example: 3 })
  @IsInt()
  fanout: number;
}
