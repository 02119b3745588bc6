/**
 * Possible intervals between consecutive expiry days, in days. Each is a multiple of the next, so that data with
 * different retentions can share a partition.
 */
const STEPS = [12, 6, 3];
/** Data may be kept one day longer for each 30 days of its retention. */
const DAYS_FOR_ONE = 30;
const DAY_MS = 86_400_000;

/**
 * Returns the day on which data expires, in days since the epoch. Data is kept at least for its retention, and at most
 * a thirtieth of the retention longer.
 *
 * Every table with a retention has one partition per expiry day, and a lookup by id searches all partitions. To limit
 * the number of partitions, the expiry days of long retentions are rounded up: a retention of a year needs about thirty
 * partitions, as many as a retention of a month.
 */
export function expiryDay(madeDay: number, retentionDays: number): number {
  const step = stepOf(retentionDays);
  return Math.ceil((madeDay + retentionDays) / step) * step;
}

/** Returns whether data with this retention has a separate partition for each day. */
export const isDaily = (retentionDays: number): boolean => stepOf(retentionDays) === 1;

/** Formats a day, counted since the epoch, as a PostgreSQL date: `YYYY-MM-DD`. */
export const dateOf = (day: number): string => new Date(day * DAY_MS).toISOString().slice(0, 10);

const stepOf = (retentionDays: number): number => STEPS.find((step) => (step - 1) * DAYS_FOR_ONE <= retentionDays) ?? 1;
