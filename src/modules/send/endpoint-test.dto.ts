import { ApiProperty } from '@nestjs/swagger';
import { IsString, Length, Matches } from 'class-validator';
import { Examples } from '#http/openapi-examples.js';
import { CanBeOmitted } from '#http/validation.js';

/** The test event to send to an endpoint. */
@Examples({
  typed: { summary: 'An event of a type that the endpoint subscribes to', value: { event_type: 'invoice.paid' } },
})
export class ApplicationEndpointTestBody {
  /** The type of the test event. */
  @ApiProperty({ default: 'posthorn.test', example: 'invoice.paid' })
  @CanBeOmitted()
  @IsString()
  @Length(1, 256)
  @Matches(/^[A-Za-z0-9._:/-]+$/u)
  event_type?: string;
}
