export { EventFilterQuery } from './events.dto.js';
import { ApiProperty } from '@nestjs/swagger';

/** Response to a cancellation. */
export class Cancelled {
  /** Number of cancelled deliveries, including those that end with the attempt in flight. */
  @ApiProperty({ type: 'integer', example: 12 })
  cancelled: number;
}
