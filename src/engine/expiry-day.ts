/** Days between expiry days, longest first. Each is a multiple of the next, so that retentions share days. */
const STEPS = [12, 6, 3];
/** Days of retention that allow a step to extend the retention by one day. */
const DAYS_FOR_ONE = 30;
const DAY_MS = 86_400_000;

/**
 * Days are counted since the epoch. Each expiry day is a partition of every table with a retention. Long retentions
 * share partitions, so that about thirty exist at a time for a month or a year; a lookup by id searches all of them.
 * Nothing is kept shorter than its retention, or longer by more than a thirtieth of it.
 */
export function expiryDay(madeDay: number, retentionDays: number): number {
  const step = stepOf(retentionDays);
  return Math.ceil((madeDay + retentionDays) / step) * step;
}

/** Returns whether each day of such a retention is a separate partition. */
export const isDaily = (retentionDays: number): boolean => stepOf(retentionDays) === 1;

/** Formats a day, counted since the epoch, as a PostgreSQL date: `YYYY-MM-DD`. */
export const dateOf = (day: number): string => new Date(day * DAY_MS).toISOString().slice(0, 10);

const stepOf = (retentionDays: number): number => STEPS.find((step) => (step - 1) * DAYS_FOR_ONE <= retentionDays) ?? 1;
