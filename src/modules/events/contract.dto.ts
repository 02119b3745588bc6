export { CodeLogsItem } from './code-logs.dto.js';
export { EventFilterQuery } from './events.dto.js';
import { ApiProperty } from '@nestjs/swagger';
import { IsInt } from 'class-validator';

/** Response to a cancellation. */
export class Cancelled {
  /** Number of canceled deliveries. A delivery with an attempt in flight counts too, and ends with this attempt. */
  @ApiProperty({ example: 12 })
  @IsInt()
  cancelled: number;
}
