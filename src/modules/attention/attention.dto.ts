import { ApiProperty } from '@nestjs/swagger';
import { type Attention, CONCERN_TYPES, type ConcernType } from './attention.js';

/** Something that is broken now. */
export class ConcernItem {
  /** What is wrong. */
  @ApiProperty({ enum: CONCERN_TYPES, example: 'circuit.open' })
  type: ConcernType;

  /** The destination (`dst_`), endpoint (`ep_`), domain (`dom_`) or job (`rpj_`); null for the whole environment. */
  @ApiProperty({ type: String, nullable: true, example: 'dst_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1' })
  subject: string | null;

  /** What people know it by; of a job its kind. */
  @ApiProperty({ type: String, nullable: true, example: 'Orders' })
  name: string | null;

  /** Since when, as far back as is looked at. */
  @ApiProperty({ format: 'date-time', example: '2026-11-21T09:30:00.000Z' })
  since: string;

  /** How often, where that means something: failures in a row, dead letters or requests of a day, deliveries; else 1. */
  @ApiProperty({ type: 'integer', example: 12 })
  count: number;

  /** What it means, in a sentence. */
  @ApiProperty({ example: 'Its circuit is open after 12 failures in a row: deliveries wait until a probe succeeds.' })
  sentence: string;

  /** The path of the API that tells more. */
  @ApiProperty({ example: '/v1/destinations/dst_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1' })
  url: string;
}

/** What is broken now. */
export class AttentionItem {
  /** Type by type, the worst first, 25 of each at most; empty when all is well. */
  @ApiProperty({ type: [ConcernItem] })
  data: ConcernItem[];

  /** Types of which there are more than are shown. */
  @ApiProperty({ enum: CONCERN_TYPES, isArray: true, example: [] })
  truncated: ConcernType[];
}

export function presentAttention({ concerns, truncated }: Attention): AttentionItem {
  return { data: concerns.map((concern) => ({ ...concern, since: concern.since.toISOString() })), truncated };
}
