import { ApiProperty } from '@nestjs/swagger';
import { showId } from '#kernel/ids.js';
import { SUPPRESSION_ORIGINS, type SuppressionRow } from './suppressions.store.js';

/** Filters and page of the suppression list. */
export class SuppressionListQuery {
  /** Returns only suppressions with this origin. */
  @ApiProperty({ required: false, enum: SUPPRESSION_ORIGINS, example: 'bounce' })
  origin?: (typeof SUPPRESSION_ORIGINS)[number];

  /** Returns only the suppression of this address. */
  @ApiProperty({ required: false, maxLength: 254, example: 'customer@example.org' })
  email?: string;

  /** The `next_cursor` of the previous page. The filters must stay the same. */
  @ApiProperty({ required: false, maxLength: 1024, example: 'WyIwMTlhOWY2NS0uLi4iXQ.c2lnbmF0dXJl' })
  cursor?: string;

  /** Maximum number of suppressions to return. */
  @ApiProperty({ required: false, type: 'integer', minimum: 1, maximum: 100, default: 50, example: 50 })
  limit?: number;
}

/** An address to add to the suppression list. */
export class NewSuppressionBody {
  /** The address. Case-insensitive. */
  @ApiProperty({ minLength: 3, maxLength: 254, example: 'customer@example.org' })
  email: string;
}

/** An address that receives no email. */
export class SuppressionItem {
  /** The suppression's id. */
  @ApiProperty({ example: 'sup_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1' })
  id: string;

  /** The address. */
  @ApiProperty({ example: 'customer@example.org' })
  email: string;

  /**
   * Why the address is suppressed: its server permanently refused an email (bounce), its owner complained, or it was
   * added manually.
   */
  @ApiProperty({ enum: SUPPRESSION_ORIGINS, example: 'bounce' })
  origin: string;

  /** The email that caused the suppression; `null` if the address was added manually. */
  @ApiProperty({ type: String, nullable: true, example: 'evt_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1' })
  source_id: string | null;

  /** When the address was suppressed. */
  @ApiProperty({ format: 'date-time', example: '2026-11-21T09:30:00.000Z' })
  created_at: string;

  /**
   * When the suppression ends; `null` if it never ends. Bounces expire only if the operator sets
   * `BOUNCE_SUPPRESSION_DAYS`.
   */
  @ApiProperty({ type: String, format: 'date-time', nullable: true, example: null })
  expires_at: string | null;
}

/** One page of suppressions, newest first. */
export class SuppressionPage {
  /** The suppressions of this page. */
  @ApiProperty({ type: [SuppressionItem] })
  data: SuppressionItem[];

  /** Pass this value as `cursor` to get the next page; `null` on the last page. */
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
