import type { EventItem } from '../api/client';

export const FORMATS = ['jsonl', 'csv'] as const;
export type ExportFormat = (typeof FORMATS)[number];

const FIELDS = [
  'id',
  'event_type',
  'status',
  'endpoint',
  'destination',
  'message_id',
  'received_at',
  'attempt_count',
  'last_status',
  'last_error',
  'last_attempt_at',
  'next_attempt_at',
] as const;

/** Returns the header line of an export file. Only CSV files have one. */
export function headOf(format: ExportFormat): string {
  return format === 'csv' ? `${FIELDS.join(',')}\r\n` : '';
}

/** Returns events as lines of a file: JSON as in the API, or CSV (RFC 4180). */
export function linesOf(format: ExportFormat, rows: readonly EventItem[]): string {
  if (format === 'jsonl') return rows.map((row) => `${JSON.stringify(row)}\n`).join('');
  return rows.map((row) => `${cellsOf(row).map(cell).join(',')}\r\n`).join('');
}

function cellsOf({
  id,
  event_type,
  status,
  endpoint,
  destination,
  message_id,
  received_at,
  attempt_count,
  last_attempt,
  next_attempt_at,
}: EventItem): (string | number | null)[] {
  return [
    id,
    event_type,
    status,
    endpoint,
    destination,
    message_id,
    received_at,
    attempt_count,
    last_attempt?.status ?? null,
    last_attempt?.error ?? null,
    last_attempt?.at ?? null,
    next_attempt_at,
  ];
}

/**
 * Returns a CSV cell that spreadsheets do not interpret. A value that would start a formula gets a leading apostrophe,
 * because senders can choose any name for an event type.
 */
export function cell(value: string | number | null): string {
  if (value === null) return '';
  if (typeof value === 'number') return String(value);
  const text = /^[=+\-@\t\r\n]/.test(value) ? `'${value}` : value;
  return /[",\r\n\t']/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
