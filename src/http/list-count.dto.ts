import { ApiProperty } from '@nestjs/swagger';
import { COUNTED_MAX } from '#kernel/cursors.js';

/** How many rows a list has in all. */
export class ListCount {
  /** How many match the filters, over all pages. */
  @ApiProperty({ type: 'integer', example: 42 })
  value: number;

  /** True when counting ended at 1,000: there are at least as many. */
  @ApiProperty({ example: false })
  is_capped: boolean;
}

/** A count that ended at the cap, or before it. */
export function listCount(counted: number): ListCount {
  return { value: Math.min(counted, COUNTED_MAX), is_capped: counted >= COUNTED_MAX };
}
