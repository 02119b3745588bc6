/** Steps that days of expiry are rounded up to, in days, longest first: each is a multiple of the next, so that retentions meet on the same days. */
const STEPS = [12, 6, 3];
/** A step may keep what it holds longer by one day for so many days of retention. */
const DAYS_FOR_ONE = 30;
const DAY_MS = 86_400_000;

/**
 * The day on which something expires that was made on `madeDay` and is kept for `retentionDays`; days are counted since the epoch.
 *
 * Each such day is a partition of every table with a retention. Long retentions share theirs, about thirty at a time whether they last for
 * a month or a year: what is looked for by its id is looked for in all of them. Nothing is kept shorter than its retention, and
 * nothing longer by more than a thirtieth of it.
 */
export function expiryDay(madeDay: number, retentionDays: number): number {
  const step = stepOf(retentionDays);
  return Math.ceil((madeDay + retentionDays) / step) * step;
}

/** Whether each day of such a retention is a partition of its own. */
export const isDaily = (retentionDays: number): boolean => stepOf(retentionDays) === 1;

/** A day, counted since the epoch, as PostgreSQL reads a date: `YYYY-MM-DD`. */
export const dateOf = (day: number): string => new Date(day * DAY_MS).toISOString().slice(0, 10);

const stepOf = (retentionDays: number): number => STEPS.find((step) => (step - 1) * DAYS_FOR_ONE <= retentionDays) ?? 1;
