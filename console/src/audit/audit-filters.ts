import { isRangeTime, rangeTime } from '../kit/time/range';

/** Which entries of the audit log are shown, as the address says it. */
export interface AuditFilters {
  actor?: string;
  action?: string;
  resource?: string;
  /** A time, or how long back: `-1d` stays relative in a link that is kept. */
  since?: string;
}

export const AUDIT_RANGES = ['-1h', '-1d', '-7d', '-30d'] as const;
const TEXTS = ['actor', 'action', 'resource'] as const;

/** The filters of an address; what is none is left out. */
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

/** The filters as the API takes them at a moment. */
export function asAuditQuery({ since, ...rest }: AuditFilters, nowMs: number): AuditFilters {
  return since === undefined ? rest : { ...rest, since: rangeTime(since, nowMs) };
}
