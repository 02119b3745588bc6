import { ApiProperty } from '@nestjs/swagger';
import { Examples } from '#http/openapi-examples.js';

/** The test event to send to an endpoint. */
@Examples({
  typed: { summary: 'An event of a type that the endpoint subscribes to', value: { event_type: 'invoice.paid' } },
})
export class ApplicationEndpointTestBody {
  /** The type of the test event. */
  @ApiProperty({
    required: false,
    minLength: 1,
    maxLength: 256,
    pattern: '^[A-Za-z0-9._:/-]+$',
    default: 'posthorn.test',
    example: 'invoice.paid',
  })
  event_type?: string;
}
