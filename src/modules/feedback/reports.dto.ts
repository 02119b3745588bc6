import { ApiProperty } from '@nestjs/swagger';
import { IsIn, IsInt, IsString, Max, MaxLength, Min } from 'class-validator';
import { CanBeNull, CanBeOmitted, IsArrayOf, IsDateTime } from '#http/validation.js';
import { showId } from '#kernel/ids.js';
import { REPORT_STATES, type ReportRow } from './reports.store.js';

/** Filter and paging of the list of reports. */
export class ReportListQuery {
  /** Returns only reports in this state. */
  @ApiProperty({ example: 'unmatched' })
  @CanBeOmitted()
  @IsIn(REPORT_STATES)
  state?: (typeof REPORT_STATES)[number];

  /** The `next_cursor` of the previous page, with the same filters. Omit it for the first page. */
  @ApiProperty({ example: 'WyIwMTlhOWY2NS0uLi4iXQ.c2lnbmF0dXJl' })
  @CanBeOmitted()
  @IsString()
  @MaxLength(1024)
  cursor?: string;

  /** Maximum number of reports to return. */
  @ApiProperty({ default: 50, example: 50 })
  @CanBeOmitted()
  @IsInt()
  @Min(1)
  @Max(100)
  limit?: number;
}

/** A report about an email that was sent. */
export class ReportItem {
  /** Id of the report. */
  @ApiProperty({ example: 'rep_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1' })
  @IsString()
  id: string;

  /** The email that the report is about, or claims to be about. Null if no email was identified. */
  @ApiProperty({ example: 'evt_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1' })
  @CanBeNull()
  @IsString()
  email_id: string | null;

  /** Channel of the report: mail (`smtp`) or a notification from Amazon SES (`ses`). */
  @ApiProperty({ example: 'smtp' })
  @IsIn(['smtp', 'ses'])
  source: string;

  /**
   * Type of the report: `bounce` (also for delayed and successful deliveries), `complaint`, `auto-reply`, `other`, or
   * SES's own type. Null while the report is `waiting`.
   */
  @ApiProperty({ example: 'bounce' })
  @CanBeNull()
  @IsString()
  kind: string | null;

  /**
   * Result of processing. `recorded`: added to the email's timeline. `unmatched`: no email, or no recipient of the
   * email, matches the report. `untrusted`: the report contains no proof that it belongs to the email. `ignored`: the
   * report says nothing about a delivery. `waiting`: not processed yet.
   */
  @ApiProperty({ example: 'unmatched' })
  @IsIn(REPORT_STATES)
  state: string;

  /**
   * Reason why the report was not recorded: `email_unknown`, `email_gone` (the email is no longer stored),
   * `recipient_unknown`, `not_proven`, `auto_reply`, `no_report` (not a report) or `nothing_new`. Null if it was
   * recorded or is `waiting`.
   */
  @ApiProperty({ example: 'recipient_unknown' })
  @CanBeNull()
  @IsString()
  reason: string | null;

  /** Address that the report was sent to, or the SNS topic of a notification. */
  @ApiProperty({ example: 'b+0000000101…@bounce.example.com' })
  @IsString()
  recipient: string;

  /** Envelope sender of the report. Empty for the null sender, which is normal for reports. */
  @ApiProperty({ example: '' })
  @IsString()
  envelope_from: string;

  /** IP address of the mail server that delivered the report. Empty for a provider's notification. */
  @ApiProperty({ example: '192.0.2.25' })
  @IsString()
  received_from: string;

  /** Size of the report in bytes. */
  @ApiProperty({ example: 4096 })
  @IsInt()
  @Min(0)
  size_bytes: number;

  /** Time when the report arrived. */
  @ApiProperty({ example: '2026-11-22T09:30:00.000Z' })
  @IsDateTime()
  received_at: string;

  /** Time until which the report is stored: 30 days, or the environment's retention if that is shorter. */
  @ApiProperty({ example: '2026-12-22T09:30:00.000Z' })
  @IsDateTime()
  expires_at: string;
}

/** One page of reports, newest first. */
export class ReportPage {
  /** The reports of this page. */
  @IsArrayOf(() => ReportItem)
  data: ReportItem[];

  /** Pass this value as `cursor` to get the next page; null on the last page. */
  @ApiProperty({ example: null })
  @CanBeNull()
  @IsString()
  next_cursor: string | null;
}

export function presentReport(row: ReportRow): ReportItem {
  return {
    id: showId('rep', row.id),
    email_id: row.emailId && showId('evt', row.emailId),
    source: row.source,
    kind: row.kind,
    state: row.state,
    reason: row.reason,
    recipient: row.recipient,
    envelope_from: row.envelopeFrom,
    received_from: row.receivedFrom,
    size_bytes: row.sizeBytes,
    received_at: row.receivedAt.toISOString(),
    expires_at: row.expiresAt.toISOString(),
  };
}

export function presentReports({ rows, nextCursor }: { rows: ReportRow[]; nextCursor: string | null }): ReportPage {
  return { data: rows.map(presentReport), next_cursor: nextCursor };
}
