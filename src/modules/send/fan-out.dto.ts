import { ApiProperty } from '@nestjs/swagger';
import { FORWARDED_HEADERS_RULE } from '#engine/headers.js';
import { Verbatim } from '#http/schemas.js';

/** One event for an application's subscribed endpoints. */
export class EmitBody {
  /** What happened: up to 256 letters, digits and `. _ - : /`. */
  @ApiProperty({ minLength: 1, maxLength: 256, pattern: '^[A-Za-z0-9._:/-]+$', example: 'invoice.paid' })
  event_type: string;

  /** The body of the webhooks, up to 1 MB. It is delivered in the very characters of this request. */
  @Verbatim()
  @ApiProperty({ type: 'object', additionalProperties: true, example: { id: 'in_1', amount: 4200 } })
  payload: Record<string, unknown>;

  /** What it also belongs to: endpoints with channels of their own get it only when one of them is named here. */
  @ApiProperty({
    required: false,
    type: 'array',
    items: { type: 'string', minLength: 1, maxLength: 256 },
    maxItems: 10,
    example: ['project-42'],
  })
  channels?: string[];

  /** Headers to forward with the deliveries; they win over the destination's own. */
  @ApiProperty({
    description: `Headers to forward with the deliveries; they win over the destination's own. ${FORWARDED_HEADERS_RULE}`,
    selfRequired: false,
    type: 'object',
    additionalProperties: { type: 'string' },
    example: { 'x-tenant': '42' },
  })
  headers?: Record<string, string>;
}

/** What an accepted event answers. */
export class EventAccepted {
  /** Id of the message, which is the `webhook-id` of every delivery. */
  @ApiProperty({ example: 'msg_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1' })
  message_id: string;

  /** How many endpoints it goes to. With 0 nothing subscribes to it: it is kept as one event that is `ignored`. */
  @ApiProperty({ type: 'integer', example: 3 })
  fanout: number;
}
