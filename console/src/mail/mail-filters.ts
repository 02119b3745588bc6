import { isRangeTime, rangeTime } from '../kit/time/range';

export const EMAIL_STATUSES = ['scheduled', 'sending', 'delivered', 'bounced', 'complained', 'suppressed', 'failed', 'dlq'] as const;
export const ORIGINS = ['bounce', 'complaint', 'manual'] as const;

/** What the list of emails shows, as its address says it. */
export interface EmailFilters {
  status?: (typeof EMAIL_STATUSES)[number];
  /** A time, or how long back. */
  since?: string;
  until?: string;
}

/** What the list of suppressions shows. */
export interface SuppressionFilters {
  origin?: (typeof ORIGINS)[number];
  email?: string;
}

type Search = Readonly<Record<string, unknown>>;

/** The filters of an address; what is none is left out. */
export function readEmailFilters(search: Search): EmailFilters {
  const status = EMAIL_STATUSES.find((each) => each === search['status']);
  const { since, until } = search;
  return { ...(status !== undefined && { status }), ...(isRangeTime(since) && { since }), ...(isRangeTime(until) && { until }) };
}

/** The filters of an address. */
export function readSuppressionFilters(search: Search): SuppressionFilters {
  const origin = ORIGINS.find((each) => each === search['origin']);
  const email = typeof search['email'] === 'string' ? search['email'].trim() : '';
  return { ...(origin !== undefined && { origin }), ...(email !== '' && { email }) };
}

/** The filters as the API takes them at a moment: relative times become times. */
export function emailQuery({ since, until, ...rest }: EmailFilters, nowMs: number): EmailFilters {
  return { ...rest, ...(since !== undefined && { since: rangeTime(since, nowMs) }), ...(until !== undefined && { until: rangeTime(until, nowMs) }) };
}
