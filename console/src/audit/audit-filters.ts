import { isRangeTime, rangeTime } from '../kit/time/range';

/** Filters of the audit log, as in the page's URL. */
export interface AuditFilters {
  actor?: string;
  action?: string;
  resource?: string;
  /** Start of the time range: an absolute time, or a time relative to now, such as `-1d`. */
  since?: string;
}

export const AUDIT_RANGES = ['-1h', '-1d', '-7d', '-30d'] as const;
const TEXTS = ['actor', 'action', 'resource'] as const;

/** Reads the filters from the query parameters of the page's URL. Ignores invalid values. */
export function readAuditFilters(search: Readonly<Record<string, unknown>>): AuditFilters {
  const filters: AuditFilters = {};
  for (const name of TEXTS) {
    const value = search[name];
    if (typeof value === 'string' && value.trim() !== '') filters[name] = value.trim();
  }
  const { since } = search;
  if (isRangeTime(since)) filters.since = since;
  return filters;
}

/** Returns the filters for the API, with relative times resolved at `nowMs`. */
export function asAuditQuery({ since, ...rest }: AuditFilters, nowMs: number): AuditFilters {
  return since === undefined ? rest : { ...rest, since: rangeTime(since, nowMs) };
}
