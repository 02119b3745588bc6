import { localeOf } from './locale-of';

/** A time formatted in the user's time zone and in UTC. */
export interface FormattedTime {
  local: string;
  /** Local time without the day, for narrow screens. */
  short: string;
  /** Local time with the day, but without seconds and year, for recent times. */
  near: string;
  utc: string;
}

/** Clock of all times: 24 hours in every locale, because users compare times with logs and API responses. */
export const HOUR_CYCLE = 'h23';

/** Formats a time with seconds in the user's time zone, and in UTC for comparison with logs. */
export function formatTime(iso: string, language: string, timeZone?: string): FormattedTime {
  const date = new Date(iso);
  if (Number.isNaN(date.getTime())) return { local: iso, short: iso, near: iso, utc: iso };
  const { local, short, near } = formatsOf(language, timeZone);
  return {
    local: local.format(date),
    short: short.format(date),
    near: near.format(date),
    utc: `${date.toISOString().replace('T', ' ').replace('Z', '')} UTC`,
  };
}

interface Formats {
  local: Intl.DateTimeFormat;
  short: Intl.DateTimeFormat;
  near: Intl.DateTimeFormat;
}

const formats = new Map<string, Formats>();

/** Returns cached formatters, because creating one takes longer than formatting all times of a screen. */
function formatsOf(language: string, timeZone?: string): Formats {
  const key = `${language} ${timeZone ?? ''}`;
  const made = formats.get(key);
  if (made !== undefined) return made;
  const zone = { hourCycle: HOUR_CYCLE, ...(timeZone !== undefined && { timeZone }) } as const;
  const next: Formats = {
    local: new Intl.DateTimeFormat(localeOf(language), { dateStyle: 'medium', timeStyle: 'medium', ...zone }),
    short: new Intl.DateTimeFormat(localeOf(language), { timeStyle: 'medium', ...zone }),
    near: new Intl.DateTimeFormat(localeOf(language), {
      day: 'numeric',
      month: 'short',
      hour: '2-digit',
      minute: '2-digit',
      ...zone,
    }),
  };
  formats.set(key, next);
  return next;
}

const UNITS: readonly [unit: Intl.RelativeTimeFormatUnit, seconds: number][] = [
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
  ['second', 1],
];

/** Formats a relative time, in the past or future: `3 minutes ago`, or `3 min. ago` in the short style. */
export function formatDistance(iso: string, nowMs: number, language: string, style: 'long' | 'short' = 'long'): string {
  const seconds = Math.round((new Date(iso).getTime() - nowMs) / 1000);
  const [unit, size] = UNITS.find(([, each]) => Math.abs(seconds) >= each) ?? ['second', 1];
  return new Intl.RelativeTimeFormat(language, { numeric: 'auto', style }).format(Math.round(seconds / size), unit);
}

/** Formats a duration in the largest unit that gives a value of at least one: `42 ms`, `1.5 s`. */
export function formatDuration(ms: number, language: string): string {
  const [value, unit]: [number, string] =
    ms < 1000
      ? [ms, 'ms']
      : ms < 60_000
        ? [ms / 1000, 's']
        : ms < 3_600_000
          ? [ms / 60_000, 'min']
          : [ms / 3_600_000, 'h'];
  return `${new Intl.NumberFormat(language, { maximumFractionDigits: 1 }).format(value)} ${unit}`;
}

/** Formats a time of day. Adds the day if it is not the day of `nowMs`: `14:05`, `26 Nov, 14:05`. */
export function formatClock(iso: string, nowMs: number, language: string, timeZone?: string): string {
  const zone = timeZone === undefined ? {} : { timeZone };
  const day = new Intl.DateTimeFormat('en-CA', { dateStyle: 'short', ...zone });
  const date = new Date(iso);
  if (Number.isNaN(date.getTime())) return iso;
  if (day.format(date) !== day.format(nowMs)) return formatsOf(language, timeZone).near.format(date);
  return new Intl.DateTimeFormat(localeOf(language), {
    hour: '2-digit',
    minute: '2-digit',
    hourCycle: HOUR_CYCLE,
    ...zone,
  }).format(date);
}

const AGES: Partial<Record<Intl.RelativeTimeFormatUnit, string>> = { day: 'd', hour: 'h', minute: 'min', second: 's' };

/**
 * Formats the time since `iso` in the largest unit that gives a value of at least one, rounded down: `40 s`, `2 h`, `3
 * d`.
 */
export function formatAge(iso: string, nowMs: number, language: string): string {
  const seconds = Math.max(0, (nowMs - Date.parse(iso)) / 1000);
  const [unit, size] = UNITS.find(([, each]) => seconds >= each) ?? ['second', 1];
  return `${new Intl.NumberFormat(language).format(Math.floor(seconds / size))} ${AGES[unit] ?? unit}`;
}
