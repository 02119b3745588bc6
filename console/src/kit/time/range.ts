/** Time ranges that the user can select in lists. Each of them ends now. */
export const RANGES = ['-15m', '-1h', '-6h', '-1d', '-7d', '-30d'] as const;

const UNIT_MS: Readonly<Record<string, number>> = { m: 60_000, h: 3_600_000, d: 86_400_000 };
const RELATIVE = /^-(\d{1,4})([mhd])$/;

/** Matches a day, alone or with a time, as the API accepts it. The code below rejects days such as `2026-02-31`. */
const DAY = /^(\d{4})-(\d{2})-(\d{2})(?:T\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?(?:Z|[+-]\d{2}:\d{2})?)?$/;
const YEAR_MIN = 1970;

/** Returns whether a query parameter is an absolute time, or a relative time such as `-1h`. */
export function isRangeTime(value: unknown): value is string {
  if (typeof value !== 'string') return false;
  if (RELATIVE.test(value)) return true;
  const [, year, month, day] = (DAY.exec(value) ?? []).map(Number);
  if (
    year === undefined ||
    month === undefined ||
    day === undefined ||
    year < YEAR_MIN ||
    Number.isNaN(Date.parse(value))
  )
    return false;
  return new Date(Date.UTC(year, month - 1, day)).getUTCDate() === day;
}

/** Returns an absolute time. Resolves a relative time at `nowMs`. */
export function rangeTime(text: string, nowMs: number): string {
  const [, count, unit = ''] = RELATIVE.exec(text) ?? [];
  return new Date(count === undefined ? text : nowMs - Number(count) * (UNIT_MS[unit] ?? 0)).toISOString();
}
