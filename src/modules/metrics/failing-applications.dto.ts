import { ApiProperty } from '@nestjs/swagger';
import { showId } from '#kernel/ids.js';
import type { FailingApplication } from './failing-applications.store.js';

/** Since when, and how many. */
export class FailingApplicationsQuery {
  /** From the hour that holds this time (RFC 3339) on, seven days ago at most; a day ago when left out. */
  @ApiProperty({ required: false, format: 'date-time', example: '2026-11-20T09:00:00.000Z' })
  since?: string;

  /** How many to return at most: the worst. */
  @ApiProperty({ required: false, type: 'integer', minimum: 1, maximum: 100, default: 50, example: 50 })
  limit?: number;
}

/** An application whose endpoints failed. */
export class FailingApplicationItem {
  /** The application. */
  @ApiProperty({ example: 'app_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1' })
  application: string;

  /** Your own id of it. */
  @ApiProperty({ type: String, nullable: true, example: 'customer-42' })
  uid: string | null;

  /** What people know it by. */
  @ApiProperty({ example: 'Acme Inc.' })
  name: string;

  /** Of all attempts and ends in the time, the share that failed: `(retried + failed + dlq) / (delivered + retried + failed + dlq)`. */
  @ApiProperty({ type: 'number', example: 0.75 })
  failure_rate: number;

  /** Deliveries that arrived. */
  @ApiProperty({ type: 'integer', example: 10 })
  delivered: number;

  /** Attempts without success that another one follows. */
  @ApiProperty({ type: 'integer', example: 24 })
  retried: number;

  /** Deliveries that ended because no retry could help. */
  @ApiProperty({ type: 'integer', example: 1 })
  failed: number;

  /** Deliveries that used up their retries. */
  @ApiProperty({ type: 'integer', example: 5 })
  dlq: number;

  /** The minute of the oldest failure in the time. */
  @ApiProperty({ type: String, format: 'date-time', nullable: true, example: '2026-11-21T09:30:00.000Z' })
  oldest_failure_at: string | null;

  /** How many of its endpoints failed. */
  @ApiProperty({ type: 'integer', example: 1 })
  failing_endpoints: number;

  /** Those that failed, worst first, ten at most. */
  @ApiProperty({ type: [String], example: ['ep_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1'] })
  endpoints: string[];
}

/** Which applications fail. */
export class FailingApplicationList {
  /** Those with the most failures first. */
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
