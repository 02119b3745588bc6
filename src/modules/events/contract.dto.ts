export { EventFilterQuery } from './events.dto.js';
import { ApiProperty } from '@nestjs/swagger';

/** What a cancellation answers. */
export class Cancelled {
  /** Deliveries that were ended, or that end with the attempt that is under way. */
  @ApiProperty({ type: 'integer', example: 12 })
  cancelled: number;
}
