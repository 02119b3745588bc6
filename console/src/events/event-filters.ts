/** What the list of events shows, as its address says it. */
export interface EventFilters {
  status?: EventStatus;
  event_type?: string;
  destination?: string;
  application?: string;
  endpoint?: string;
  message_id?: string;
  /** A time, or how long back: `-1h` stays relative in a link that is kept. */
  since?: string;
  until?: string;
}

export const STATUSES = ['delivered', 'retrying', 'failed', 'dlq', 'quarantined', 'parked', 'ignored'] as const;
export type EventStatus = (typeof STATUSES)[number];

/** The ranges that are offered. */
export const RANGES = ['-15m', '-1h', '-6h', '-1d', '-7d', '-30d'] as const;

const TEXTS = ['event_type', 'destination', 'application', 'endpoint', 'message_id'] as const;
const UNIT_MS: Readonly<Record<string, number>> = { m: 60_000, h: 3_600_000, d: 86_400_000 };
const RELATIVE = /^-(\d{1,4})([mhd])$/;

/** The filters of an address; what is none is left out, so that an address typed by hand shows something. */
export function readFilters(search: Readonly<Record<string, unknown>>): EventFilters {
  const filters: EventFilters = {};
  const status = STATUSES.find((each) => each === search['status']);
  if (status !== undefined) filters.status = status;
  for (const name of TEXTS) {
    const value = search[name];
    if ((typeof value === 'string' || typeof value === 'number') && String(value).trim() !== '') filters[name] = String(value).trim();
  }
  for (const name of ['since', 'until'] as const) {
    const value = search[name];
    if (typeof value === 'string' && (RELATIVE.test(value) || !Number.isNaN(Date.parse(value)))) filters[name] = value;
  }
  return filters;
}

/** The filters as the API takes them at a moment: relative times become times. */
export function asQuery(filters: EventFilters, nowMs: number): EventFilters {
  const { since, until, ...rest } = filters;
  return { ...rest, ...(since !== undefined && { since: timeOf(since, nowMs) }), ...(until !== undefined && { until: timeOf(until, nowMs) }) };
}

/** The filters that the stream of events has: it tells what happens now, whatever the range. */
export function asStreamQuery({ since: _since, until: _until, message_id: _message, ...rest }: EventFilters): Record<string, string> {
  return Object.fromEntries(Object.entries(rest).filter(([, value]) => value !== undefined));
}

/** Whether anything new can belong to the list at all. */
export function canGrow({ until, message_id }: EventFilters): boolean {
  return until === undefined && message_id === undefined;
}

function timeOf(text: string, nowMs: number): string {
  const [, count, unit = ''] = RELATIVE.exec(text) ?? [];
  return new Date(count === undefined ? text : nowMs - Number(count) * (UNIT_MS[unit] ?? 0)).toISOString();
}
