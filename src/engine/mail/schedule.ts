const DAY_MS = 86_400_000;
export const SCHEDULE_DAYS_MAX = 30;

/** Time of RFC 3339 with a time zone. A time without a zone is ambiguous and therefore rejected. */
const MOMENT = /^(\d{4})-(\d{2})-(\d{2})[T ]\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?(?:Z|[+-]\d{2}:?\d{2})$/i;
/** A relative time such as `in 1 min`, as in the examples of the `resend` package. */
const FROM_NOW = /^in (\d{1,7}) ?(s|secs?|seconds?|m|mins?|minutes?|h|hours?|d|days?|w|weeks?)$/i;
const UNIT_MS: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, h: 3_600_000, d: DAY_MS, w: 7 * DAY_MS };

export const SCHEDULE_RULE = `Give a time of RFC 3339 with its zone, such as 2026-11-21T09:30:00Z, or "in 5 minutes" (also seconds, hours, days, weeks), at most ${SCHEDULE_DAYS_MAX} days ahead. A time in the past means now.`;

export function readSchedule(text: string, nowMs: number): { atMs: number } | { fault: string } {
  const atMs = fromNow(text, nowMs) ?? momentOf(text);
  if (atMs === null)
    return {
      fault:
        'must be a time with its zone such as 2026-11-21T09:30:00Z, or "in 5 minutes" (seconds, hours, days, weeks)',
    };
  if (atMs > nowMs + SCHEDULE_DAYS_MAX * DAY_MS) return { fault: `must be at most ${SCHEDULE_DAYS_MAX} days ahead` };
  return { atMs };
}

function fromNow(text: string, nowMs: number): number | null {
  const [, count, unit = ''] = FROM_NOW.exec(text.trim()) ?? [];
  return count === undefined ? null : nowMs + Number(count) * (UNIT_MS[unit.charAt(0).toLowerCase()] as number);
}

/** Returns a time in milliseconds, or null. Rejects days such as 31 February, which `Date` would change. */
function momentOf(text: string): number | null {
  const [, year, month, day] = MOMENT.exec(text.trim()) ?? [];
  if (
    year === undefined ||
    new Date(Date.UTC(Number(year), Number(month) - 1, Number(day))).getUTCDate() !== Number(day)
  )
    return null;
  const atMs = Date.parse(
    text
      .trim()
      .replace(' ', 'T')
      .replace(/([+-]\d{2})(\d{2})$/, '$1:$2'),
  );
  return Number.isNaN(atMs) ? null : atMs;
}
