import { ApiProperty } from '@nestjs/swagger';
import { IsArray, IsIn, IsInt, IsString } from 'class-validator';
import { CanBeNull, IsArrayOf, IsDateTime } from '#http/validation.js';
import { type Attention, CONCERN_TYPES, type ConcernType } from './attention.js';

/** A current problem. */
export class ConcernItem {
  /** Type of the problem, for programs. */
  @ApiProperty({ example: 'circuit.open' })
  @IsIn(CONCERN_TYPES)
  type: ConcernType;

  /**
   * Id of the affected destination (`dst_`), endpoint (`ep_`), domain (`dom_`) or job (`rpj_`); `null` if the problem
   * affects the whole environment.
   */
  @ApiProperty({ example: 'dst_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1' })
  @CanBeNull()
  @IsString()
  subject: string | null;

  /** Human-readable name of the affected resource. For a job, its kind. */
  @ApiProperty({ example: 'Orders' })
  @CanBeNull()
  @IsString()
  name: string | null;

  /**
   * Start of the problem. If the problem began before the period that is examined, this is the start of that period.
   */
  @ApiProperty({ example: '2026-11-21T09:30:00.000Z' })
  @IsDateTime()
  since: string;

  /**
   * How often the problem occurred. Depending on `type`, the number counts consecutive failures, deliveries, or the dead
   * letters or requests of the last day. 1 for problems that are not counted.
   */
  @ApiProperty({ example: 12 })
  @IsInt()
  count: number;

  /** Explanation in one sentence. */
  @ApiProperty({ example: 'Its circuit is open after 12 failures in a row: deliveries wait until a probe succeeds.' })
  @IsString()
  sentence: string;

  /** Path of an API operation with more details. */
  @ApiProperty({ example: '/v1/destinations/dst_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1' })
  @IsString()
  url: string;
}

/** Current problems of the environment. */
export class AttentionItem {
  /** Problems grouped by type, most serious type first, with at most 25 per type. Empty if there are no problems. */
  @IsArrayOf(() => ConcernItem)
  data: ConcernItem[];

  /** Types with more problems than the response shows. */
  @ApiProperty({ example: [] })
  @IsArray()
  @IsIn(CONCERN_TYPES, { each: true })
  truncated: ConcernType[];
}

export function presentAttention({ concerns, truncated }: Attention): AttentionItem {
  return { data: concerns.map((concern) => ({ ...concern, since: concern.since.toISOString() })), truncated };
}
