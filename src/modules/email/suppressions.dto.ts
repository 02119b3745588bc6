import { ApiProperty } from '@nestjs/swagger';
import {
  ArrayMaxSize,
  ArrayMinSize,
  IsArray,
  IsIn,
  IsInt,
  IsString,
  Length,
  Max,
  MaxLength,
  Min,
} from 'class-validator';
import { CanBeNull, CanBeOmitted, IsArrayOf, IsDateTime } from '#http/validation.js';
import { showId } from '#kernel/ids.js';
import { SUPPRESSION_ORIGINS, type SuppressionRow } from './suppressions.store.js';

/** Filters and pagination parameters of the suppression list. */
export class SuppressionListQuery {
  /** Returns only suppressions with this origin. */
  @ApiProperty({ example: 'bounce' })
  @CanBeOmitted()
  @IsIn(SUPPRESSION_ORIGINS)
  origin?: (typeof SUPPRESSION_ORIGINS)[number];

  /** Returns only the suppression of this address. */
  @ApiProperty({ example: 'customer@example.org' })
  @CanBeOmitted()
  @IsString()
  @MaxLength(254)
  email?: string;

  /** Cursor of the page to return: the `next_cursor` of the previous page, requested with the same filters. */
  @ApiProperty({ example: 'WyIwMTlhOWY2NS0uLi4iXQ.c2lnbmF0dXJl' })
  @CanBeOmitted()
  @IsString()
  @MaxLength(1024)
  cursor?: string;

  /** Maximum number of suppressions to return. */
  @ApiProperty({ default: 50, example: 50 })
  @CanBeOmitted()
  @IsInt()
  @Min(1)
  @Max(100)
  limit?: number;
}

/** An address to add to the suppression list. */
export class NewSuppressionBody {
  /** Address to suppress. Case-insensitive. */
  @ApiProperty({ example: 'customer@example.org' })
  @IsString()
  @Length(3, 254)
  email: string;
}

/** Addresses to add to the suppression list in one request. */
export class SuppressionBatchBody {
  /** Addresses to suppress, 1 to 100. Case-insensitive. */
  @ApiProperty({ example: ['customer@example.org', 'friend@example.org'] })
  @IsArray()
  @IsString({ each: true })
  @Length(3, 254, { each: true })
  @ArrayMinSize(1)
  @ArrayMaxSize(100)
  emails: string[];
}

/** The suppression of an address in a batch. */
export class SuppressionBatchItem {
  /** The suppression's id. */
  @ApiProperty({ example: 'sup_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1' })
  @IsString()
  id: string;

  /** The suppressed address. */
  @ApiProperty({ example: 'customer@example.org' })
  @IsString()
  email: string;
}

/** The suppressions of a batch. */
export class SuppressionBatch {
  /** One suppression for each address, in the order of the request. */
  @IsArrayOf(() => SuppressionBatchItem)
  data: SuppressionBatchItem[];
}

/** A suppressed address, which receives no email. */
export class SuppressionItem extends SuppressionBatchItem {
  /**
   * Reason for the suppression: `bounce` (the address's mail server permanently rejected an email), `complaint` (the
   * owner reported an email as spam), `unsubscribe` (the owner unsubscribed from all emails), or `manual` (added
   * manually).
   */
  @ApiProperty({ example: 'bounce' })
  @IsIn(SUPPRESSION_ORIGINS)
  origin: string;

  /**
   * The email that caused the suppression, or whose unsubscribe link was used. `null` if the address was added
   * manually.
   */
  @ApiProperty({ example: 'evt_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1' })
  @CanBeNull()
  @IsString()
  source_id: string | null;

  /** Time at which the address was suppressed. */
  @ApiProperty({ example: '2026-11-21T09:30:00.000Z' })
  @IsDateTime()
  created_at: string;

  /**
   * Time at which the suppression ends. `null` if it never ends. Bounces expire only if the operator sets
   * `BOUNCE_SUPPRESSION_DAYS`.
   */
  @ApiProperty({ example: null })
  @CanBeNull()
  @IsDateTime()
  expires_at: string | null;
}

/** One page of suppressions, newest first. */
export class SuppressionPage {
  /** The suppressions of this page. */
  @IsArrayOf(() => SuppressionItem)
  data: SuppressionItem[];

  /** Pass this value as `cursor` to get the next page. `null` on the last page. */
  @ApiProperty({ example: null })
  @CanBeNull()
  @IsString()
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

/** Returns ids and addresses only, so that an audit entry has room for a hundred of them. */
export function presentBatch(rows: readonly SuppressionRow[]): SuppressionBatch {
  return { data: rows.map(({ id, email }) => ({ id: showId('sup', id), email })) };
}
