import { ApiProperty } from '@nestjs/swagger';
import { showId } from '#kernel/ids.js';
import { SUPPRESSION_ORIGINS, type SuppressionRow } from './suppressions.store.js';

/** Where in the list of suppressions. */
export class SuppressionListQuery {
  /** Only those that came about like this. */
  @ApiProperty({ required: false, enum: SUPPRESSION_ORIGINS, example: 'bounce' })
  origin?: (typeof SUPPRESSION_ORIGINS)[number];

  /** Only this address. */
  @ApiProperty({ required: false, maxLength: 254, example: 'customer@example.org' })
  email?: string;

  /** Where to go on: the `next_cursor` of the page before, with the same filters. */
  @ApiProperty({ required: false, maxLength: 1024, example: 'WyIwMTlhOWY2NS0uLi4iXQ.c2lnbmF0dXJl' })
  cursor?: string;

  /** How many to return. */
  @ApiProperty({ required: false, type: 'integer', minimum: 1, maximum: 100, default: 50, example: 50 })
  limit?: number;
}

/** The address not to send to. */
export class NewSuppressionBody {
  /** The address, in any case. */
  @ApiProperty({ minLength: 3, maxLength: 254, example: 'customer@example.org' })
  email: string;
}

/** An address that is not sent to. */
export class SuppressionItem {
  /** Its id. */
  @ApiProperty({ example: 'sup_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1' })
  id: string;

  /** The address. */
  @ApiProperty({ example: 'customer@example.org' })
  email: string;

  /** Why: its server refused it for good, its owner complained, or somebody added it. */
  @ApiProperty({ enum: SUPPRESSION_ORIGINS, example: 'bounce' })
  origin: string;

  /** The email that it came of; null when somebody added it. */
  @ApiProperty({ type: String, nullable: true, example: 'evt_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1' })
  source_id: string | null;

  /** Since when. */
  @ApiProperty({ format: 'date-time', example: '2026-11-21T09:30:00.000Z' })
  created_at: string;

  /** Until when; null for ever. A bounce expires where the operator has set `BOUNCE_SUPPRESSION_DAYS`. */
  @ApiProperty({ type: String, format: 'date-time', nullable: true, example: null })
  expires_at: string | null;
}

/** One page of suppressions, newest first. */
export class SuppressionPage {
  /** The suppressions of this page. */
  @ApiProperty({ type: [SuppressionItem] })
  data: SuppressionItem[];

  /** Pass it as `cursor` for the next page; null on the last one. */
  @ApiProperty({ type: String, nullable: true, example: null })
  next_cursor: string | null;
}

export function presentSuppression({
  id,
  email,
  origin,
  sourceId,
  createdAt,
  expiresAt,
}: SuppressionRow): SuppressionItem {
  return {
    id: showId('sup', id),
    email,
    origin,
    source_id: sourceId && showId('evt', sourceId),
    created_at: createdAt.toISOString(),
    expires_at: expiresAt?.toISOString() ?? null,
  };
}

export function presentSuppressions({
  rows,
  nextCursor,
}: {
  rows: SuppressionRow[];
  nextCursor: string | null;
}): SuppressionPage {
  return { data: rows.map(presentSuppression), next_cursor: nextCursor };
}
