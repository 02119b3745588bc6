import { ApiProperty } from '@nestjs/swagger';
import { IsBoolean, IsInt } from 'class-validator';
import { COUNTED_MAX } from '#kernel/cursors.js';

/** Total number of rows in a list. */
export class ListCount {
  /** Number of rows that match the filters, over all pages. Counting stops at 1,000. */
  @ApiProperty({ example: 42 })
  @IsInt()
  value: number;

  /** True if counting stopped at 1,000, so that there are at least 1,000 rows. */
  @ApiProperty({ example: false })
  @IsBoolean()
  is_capped: boolean;
}

/** Returns a count as the API shows it, capped at `COUNTED_MAX`. */
export function listCount(counted: number): ListCount {
  return { value: Math.min(counted, COUNTED_MAX), is_capped: counted >= COUNTED_MAX };
}
