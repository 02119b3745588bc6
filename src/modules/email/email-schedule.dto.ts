import { ApiProperty } from '@nestjs/swagger';
import { IsIn, IsOptional, IsString, MaxLength } from 'class-validator';
import { SCHEDULE_RULE } from '#engine/mail/schedule.js';
import { Examples } from '#http/openapi-examples.js';
import { CanBeOmitted, IsDateTime } from '#http/validation.js';
import { invalid } from '#kernel/errors.js';
import { type Id, showId } from '#kernel/ids.js';

/** The new time of a scheduled email. */
@Examples({ later: { summary: 'In two hours', value: { scheduled_at: 'in 2 hours' } } })
export class EmailScheduleBody {
  /** New time at which to send the email. */
  @ApiProperty({ description: `New time to send the email. ${SCHEDULE_RULE}`, example: 'in 2 hours' })
  @IsOptional()
  @IsString()
  @MaxLength(64)
  scheduled_at?: string | null;

  /** Alias of `scheduled_at`. */
  @ApiProperty({ example: 'in 2 hours' })
  @IsOptional()
  @IsString()
  @MaxLength(64)
  scheduledAt?: string | null;

  /** Ignored, because the path has the id. Resend's packages for Python and Go send it here, too. */
  @ApiProperty({ example: 'evt_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1' })
  @CanBeOmitted()
  @IsString()
  id?: string;
}

/** A scheduled email with its new time. */
export class EmailRescheduled {
  /** Always `email`. */
  @ApiProperty({ example: 'email' })
  @IsIn(['email'])
  object: 'email';

  /** The email's id. */
  @ApiProperty({ example: 'evt_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1' })
  @IsString()
  id: string;

  /** Time at which the email will be sent. */
  @ApiProperty({ example: '2026-11-21T11:30:00.000Z' })
  @IsDateTime()
  scheduled_at: string;
}

/** Returns the time in the body. Throws 422 if the body contains no time, or more than one. */
export function scheduleOf({ scheduled_at: own, scheduledAt: alias }: EmailScheduleBody): string {
  const text = own ?? alias ?? null;
  if (text === null) throw invalid([{ path: 'scheduled_at', message: 'is required' }]);
  if (own !== null && own !== undefined && alias !== null && alias !== undefined)
    throw invalid([{ path: 'scheduledAt', message: 'is given twice: as scheduledAt and under its other name' }]);
  return text;
}

export function presentRescheduled(id: Id, at: Date): EmailRescheduled {
  return { object: 'email', id: showId('evt', id), scheduled_at: at.toISOString() };
}
