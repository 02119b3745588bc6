import { ApiProperty } from '@nestjs/swagger';

/** What to try an endpoint with. */
export class ApplicationEndpointTestBody {
  /** The type of the test event. */
  @ApiProperty({ required: false, minLength: 1, maxLength: 256, pattern: '^[A-Za-z0-9._:/-]+$', default: 'posthorn.test', example: 'invoice.paid' })
  event_type?: string;
}
