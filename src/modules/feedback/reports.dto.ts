import { ApiProperty } from '@nestjs/swagger';
import { showId } from '#kernel/ids.js';
import { REPORT_STATES, type ReportRow } from './reports.store.js';

/** Where in the list of reports. */
export class ReportListQuery {
  /** Only those of which this became. */
  @ApiProperty({ required: false, enum: REPORT_STATES, example: 'unmatched' })
  state?: (typeof REPORT_STATES)[number];

  /** Where to go on: the `next_cursor` of the page before, with the same filters. */
  @ApiProperty({ required: false, maxLength: 1024, example: 'WyIwMTlhOWY2NS0uLi4iXQ.c2lnbmF0dXJl' })
  cursor?: string;

  /** How many to return. */
  @ApiProperty({ required: false, type: 'integer', minimum: 1, maximum: 100, default: 50, example: 50 })
  limit?: number;
}

/** A report about an email that was sent. */
export class ReportItem {
  /** Its id. */
  @ApiProperty({ example: 'rep_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1' })
  id: string;

  /** The email that it is about, or says that it is about. */
  @ApiProperty({ type: String, nullable: true, example: 'evt_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1' })
  email_id: string | null;

  /** How it came: by mail, or as a notification of Amazon SES. */
  @ApiProperty({ enum: ['smtp', 'ses'], example: 'smtp' })
  source: string;

  /** What it is: `bounce` (also of what is late or arrived), `complaint`, `auto-reply`, `other`, or SES's own word. Null while it waits. */
  @ApiProperty({ type: String, nullable: true, example: 'bounce' })
  kind: string | null;

  /** What became of it: `recorded` in the email's timeline; `unmatched` with nobody that the email went to; `untrusted`, since it proves nothing; `ignored`, since it says nothing of a delivery; or it is `waiting`. */
  @ApiProperty({ enum: REPORT_STATES, example: 'unmatched' })
  state: string;

  /** Why it is not recorded: `recipient_unknown`, `email_gone`, `not_proven`, `auto_reply`, `no_report`, `nothing_new`. */
  @ApiProperty({ type: String, nullable: true, example: 'recipient_unknown' })
  reason: string | null;

  /** The address that it came to, or the topic. */
  @ApiProperty({ example: 'b+0000000101…@bounce.example.com' })
  recipient: string;

  /** The sender of its envelope; empty for none, which reports have. */
  @ApiProperty({ example: '' })
  envelope_from: string;

  /** The address of the server that brought it; empty for notifications. */
  @ApiProperty({ example: '192.0.2.25' })
  received_from: string;

  /** Bytes of the report. */
  @ApiProperty({ type: 'integer', minimum: 0, example: 4096 })
  size_bytes: number;

  /** When it came. */
  @ApiProperty({ format: 'date-time', example: '2026-11-22T09:30:00.000Z' })
  received_at: string;

  /** Until when it is kept: 30 days, or the environment's retention if that is shorter. */
  @ApiProperty({ format: 'date-time', example: '2026-12-22T09:30:00.000Z' })
  expires_at: string;
}

/** One page of reports, newest first. */
export class ReportPage {
  /** The reports of this page. */
  @ApiProperty({ type: [ReportItem] })
  data: ReportItem[];

  /** Pass it as `cursor` for the next page; null on the last one. */
  @ApiProperty({ type: String, nullable: true, example: null })
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
