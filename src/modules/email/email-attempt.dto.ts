import { ApiProperty } from '@nestjs/swagger';
import { IsInt, IsString } from 'class-validator';
import { CanBeNull, IsDateTime } from '#http/validation.js';
import type { AttemptRow } from '#modules/events/attempts.contract.js';

/** One attempt to pass an email to the mail transport. */
export class EmailAttempt {
  /** Number of the attempt within its delivery, starting at 1. */
  @ApiProperty({ example: 1 })
  @IsInt()
  number: number;

  /** SMTP reply code. `null` if there was no reply. */
  @ApiProperty({ example: 250 })
  @CanBeNull()
  @IsInt()
  status: number | null;

  /** Duration of the attempt in milliseconds. */
  @ApiProperty({ example: 42 })
  @IsInt()
  duration_ms: number;

  /** Time at which the attempt started. */
  @ApiProperty({ example: '2026-11-21T09:30:00.120Z' })
  @IsDateTime()
  at: string;

  /** Last line of the SMTP reply, at most 1 KB. */
  @ApiProperty({ example: '250 2.0.0 OK' })
  @CanBeNull()
  @IsString()
  response_excerpt: string | null;
}

export function presentAttempt({ number, status, durationMs, startedAt, excerpt }: AttemptRow): EmailAttempt {
  return { number, status, duration_ms: durationMs, at: startedAt.toISOString(), response_excerpt: excerpt };
}
