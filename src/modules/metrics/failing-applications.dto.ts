import { ApiProperty } from '@nestjs/swagger';
import { IsArray, IsInt, IsNumber, IsString, Max, Min } from 'class-validator';
import { CanBeNull, CanBeOmitted, IsArrayOf, IsDateTime } from '#http/validation.js';
import { showId } from '#kernel/ids.js';
import type { FailingApplication } from './failing-applications.store.js';

/** Time range and maximum number of applications. */
export class FailingApplicationsQuery {
  /**
   * Start of the range (RFC 3339), rounded down to the full hour and at most seven days ago. Defaults to one day ago.
   */
  @ApiProperty({ example: '2026-11-20T09:00:00.000Z' })
  @CanBeOmitted()
  @IsDateTime()
  since?: string;

  /** Maximum number of items to return, worst first. */
  @ApiProperty({ default: 50, example: 50 })
  @CanBeOmitted()
  @IsInt()
  @Min(1)
  @Max(100)
  limit?: number;
}

/** An application with failing endpoints. */
export class FailingApplicationItem {
  /** Id of the application. */
  @ApiProperty({ example: 'app_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1' })
  @IsString()
  application: string;

  /** Your own id for the application. */
  @ApiProperty({ example: 'customer-42' })
  @CanBeNull()
  @IsString()
  uid: string | null;

  /** Human-readable name. */
  @ApiProperty({ example: 'Acme Inc.' })
  @IsString()
  name: string;

  /**
   * Fraction of attempts and final results in the range that failed: `(retried + failed + dlq) / (delivered + retried +
   * failed + dlq)`.
   */
  @ApiProperty({ example: 0.75 })
  @IsNumber()
  failure_rate: number;

  /** Number of successful deliveries. */
  @ApiProperty({ example: 10 })
  @IsInt()
  delivered: number;

  /** Number of failed attempts that are followed by another attempt. */
  @ApiProperty({ example: 24 })
  @IsInt()
  retried: number;

  /** Number of deliveries that failed permanently because a retry could not help. */
  @ApiProperty({ example: 1 })
  @IsInt()
  failed: number;

  /** Number of deliveries that used up their retries. */
  @ApiProperty({ example: 5 })
  @IsInt()
  dlq: number;

  /** Minute in which the oldest failure of the range happened. */
  @ApiProperty({ example: '2026-11-21T09:30:00.000Z' })
  @CanBeNull()
  @IsDateTime()
  oldest_failure_at: string | null;

  /** Number of endpoints with failures. */
  @ApiProperty({ example: 1 })
  @IsInt()
  failing_endpoints: number;

  /** Ids of the endpoints with failures, worst first, at most ten. */
  @ApiProperty({ example: ['ep_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1'] })
  @IsArray()
  @IsString({ each: true })
  endpoints: string[];
}

/** Applications with failures. */
export class FailingApplicationList {
  /** Applications ordered by number of failures, highest first. */
  @IsArrayOf(() => FailingApplicationItem)
  data: FailingApplicationItem[];
}

export function presentFailing({
  id,
  uid,
  name,
  delivered,
  failed,
  dlq,
  retried,
  ...of
}: FailingApplication): FailingApplicationItem {
  const failures = failed + dlq + retried;
  return {
    application: showId('app', id),
    uid,
    name,
    failure_rate: Math.round((failures / (delivered + failures)) * 10_000) / 10_000,
    delivered,
    retried,
    failed,
    dlq,
    oldest_failure_at: of.oldestFailureAt?.toISOString() ?? null,
    failing_endpoints: of.failingEndpoints,
    endpoints: of.endpointIds.map((endpointId) => showId('ep', endpointId)),
  };
}
