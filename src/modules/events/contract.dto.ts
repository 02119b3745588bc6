export { EventFilterQuery } from './events.dto.js';
import { ApiProperty } from '@nestjs/swagger';
import { IsInt } from 'class-validator';

/** Response to a cancellation. */
export class Cancelled {
  /** Number of cancelled deliveries, including those that end with the attempt in flight. */
  @ApiProperty({ example: 12 })
  @IsInt()
  cancelled: number;
}
