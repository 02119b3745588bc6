import type { TimestampRule } from './scheme.js';

/** Since 2001, a Unix time in milliseconds has 13 digits. A Unix time in seconds has fewer. */
const MILLIS_DIGITS = 13;
const DIGITS = /^\d{1,15}$/;
const RFC_3339 = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(?:\.\d{1,12})?(?:Z|[+-]\d{2}:\d{2})$/;

/** Returns whether the text is a time in the format of `unit`. */
export function isTimestamp(text: string, unit: TimestampRule['unit']): boolean {
  return parse(text, unit) !== null;
}

export function isFresh(
  text: string,
  rule: Pick<TimestampRule, 'unit' | 'toleranceSeconds' | 'ageOnly'>,
  nowMs: number,
): boolean {
  const stamp = parse(text, rule.unit);
  if (stamp === null) return false;
  if (rule.toleranceSeconds === null) return true;
  // Computes the age in whole units of the timestamp (seconds or milliseconds), because the providers' libraries also
  // round it.
  const ageMs = Math.floor(nowMs / stamp.stepMs) * stamp.stepMs - stamp.atMs;
  const limitMs = rule.toleranceSeconds * 1000;
  return ageMs <= limitMs && (rule.ageOnly === true || -ageMs <= limitMs);
}

export function writeTimestamp(nowMs: number, unit: TimestampRule['unit']): string {
  switch (unit) {
    case 's':
    case 'either':
      return String(Math.floor(nowMs / 1000));
    case 'ms':
      return String(nowMs);
    case 'rfc3339':
      return new Date(nowMs).toISOString();
  }
}

function parse(text: string, unit: TimestampRule['unit']): { atMs: number; stepMs: number } | null {
  if (unit === 'rfc3339' || (unit === 'either' && text.includes('T'))) {
    const atMs = RFC_3339.test(text) ? Date.parse(text) : NaN;
    return Number.isNaN(atMs) ? null : { atMs, stepMs: 1 };
  }
  if (!DIGITS.test(text)) return null;
  const stepMs = unit === 'ms' || (unit === 'either' && text.length >= MILLIS_DIGITS) ? 1 : 1000;
  return { atMs: Number(text) * stepMs, stepMs };
}
