import { ApiProperty } from '@nestjs/swagger';
import { showId } from '#kernel/ids.js';
import type { FailingApplication } from './failing-applications.store.js';

/** Time range and maximum number of applications. */
export class FailingApplicationsQuery {
  /**
   * Start of the range (RFC 3339), rounded down to the full hour and at most seven days ago. Defaults to one day ago.
   */
  @ApiProperty({ required: false, format: 'date-time', example: '2026-11-20T09:00:00.000Z' })
  since?: string;

  /** Maximum number of items to return, worst first. */
  @ApiProperty({ required: false, type: 'integer', minimum: 1, maximum: 100, default: 50, example: 50 })
  limit?: number;
}

/** An application with failing endpoints. */
export class FailingApplicationItem {
  /** Id of the application. */
  @ApiProperty({ example: 'app_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1' })
  application: string;

  /** Your own id of the application. */
  @ApiProperty({ type: String, nullable: true, example: 'customer-42' })
  uid: string | null;

  /** Human-readable name. */
  @ApiProperty({ example: 'Acme Inc.' })
  name: string;

  /**
   * Fraction of attempts and final results in the range that failed: `(retried + failed + dlq) / (delivered + retried +
   * failed + dlq)`.
   */
  @ApiProperty({ type: 'number', example: 0.75 })
  failure_rate: number;

  /** Number of successful deliveries. */
  @ApiProperty({ type: 'integer', example: 10 })
  delivered: number;

  /** Number of failed attempts that are followed by another attempt. */
  @ApiProperty({ type: 'integer', example: 24 })
  retried: number;

  /** Number of deliveries that failed permanently because a retry could not help. */
  @ApiProperty({ type: 'integer', example: 1 })
  failed: number;

  /** Number of deliveries that used up their retries. */
  @ApiProperty({ type: 'integer', example: 5 })
  dlq: number;

  /** Minute of the oldest failure in the range. */
  @ApiProperty({ type: String, format: 'date-time', nullable: true, example: '2026-11-21T09:30:00.000Z' })
  oldest_failure_at: string | null;

  /** Number of endpoints with failures. */
  @ApiProperty({ type: 'integer', example: 1 })
  failing_endpoints: number;

  /** Ids of the endpoints with failures, worst first, at most ten. */
  @ApiProperty({ type: [String], example: ['ep_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1'] })
  endpoints: string[];
}

/** Applications with failures. */
export class FailingApplicationList {
  /** Applications ordered by number of failures, highest first. */
  @ApiProperty({ type: [FailingApplicationItem] })
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
