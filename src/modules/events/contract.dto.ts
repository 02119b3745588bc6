export { EventFilterQuery } from './events.dto.js';
import { ApiProperty } from '@nestjs/swagger';

/** Response to a cancellation. */
export class Cancelled {
  /** Number of deliveries that were cancelled at once, or that end after their attempt in flight. */
  @ApiProperty({ type: 'integer', example: 12 })
  cancelled: number;
}
