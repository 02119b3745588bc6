import { ApiProperty } from '@nestjs/swagger';
import { IsBoolean, IsIn, IsString } from 'class-validator';
import { LOG_LEVELS, type LogLevel } from '#engine/code-logs.js';
import { IsArrayOf } from '#http/validation.js';

/** A line that a transform's code wrote to the console. */
export class CodeLogLine {
  /** Method of the console that wrote the line. */
  @ApiProperty({ example: 'warn' })
  @IsIn(LOG_LEVELS)
  level: LogLevel;

  /** Arguments of the `console` call, separated by spaces. Secret values are `(hidden)`, and objects are JSON. */
  @ApiProperty({ example: 'no customer in {"id":42}' })
  @IsString()
  text: string;
}

/** Output of a transform's console. */
export class CodeLogsItem {
  /**
   * The lines in the order in which they were written: at most 100 lines of 1,000 characters each, and 16 KB in total.
   */
  @IsArrayOf(() => CodeLogLine)
  lines: CodeLogLine[];

  /** `true` if lines were left out or truncated because of the limits. */
  @ApiProperty({ example: false })
  @IsBoolean()
  truncated: boolean;
}
