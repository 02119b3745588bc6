import { ApiProperty } from '@nestjs/swagger';
import { type Attention, CONCERN_TYPES, type ConcernType } from './attention.js';

/** A current problem. */
export class ConcernItem {
  /** Type of the problem. */
  @ApiProperty({ enum: CONCERN_TYPES, example: 'circuit.open' })
  type: ConcernType;

  /**
   * Id of the affected destination (`dst_`), endpoint (`ep_`), domain (`dom_`) or job (`rpj_`); `null` if the problem
   * affects the whole environment.
   */
  @ApiProperty({ type: String, nullable: true, example: 'dst_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1' })
  subject: string | null;

  /** Human-readable name of the subject, or the kind of the job if the subject is a job. */
  @ApiProperty({ type: String, nullable: true, example: 'Orders' })
  name: string | null;

  /** Start of the problem, or the earliest time that the check examines if the problem is older. */
  @ApiProperty({ format: 'date-time', example: '2026-11-21T09:30:00.000Z' })
  since: string;

  /**
   * Number of occurrences, if the type counts them: consecutive failures, dead letters or requests within one day, or
   * deliveries. Otherwise 1.
   */
  @ApiProperty({ type: 'integer', example: 12 })
  count: number;

  /** Explanation in one sentence. */
  @ApiProperty({ example: 'Its circuit is open after 12 failures in a row: deliveries wait until a probe succeeds.' })
  sentence: string;

  /** Path of an API operation with more details. */
  @ApiProperty({ example: '/v1/destinations/dst_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1' })
  url: string;
}

/** Current problems of the environment. */
export class AttentionItem {
  /** Problems grouped by type, most serious type first, with at most 25 per type. Empty if there are no problems. */
  @ApiProperty({ type: [ConcernItem] })
  data: ConcernItem[];

  /** Types with more problems than the response shows. */
  @ApiProperty({ enum: CONCERN_TYPES, isArray: true, example: [] })
  truncated: ConcernType[];
}

export function presentAttention({ concerns, truncated }: Attention): AttentionItem {
  return { data: concerns.map((concern) => ({ ...concern, since: concern.since.toISOString() })), truncated };
}
