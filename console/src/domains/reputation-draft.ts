import type { Schemas } from '../api/client';

export type Thresholds = Schemas['ThresholdsItem'];

/**
 * Limits of a domain as the form edits them: rates in percent, as text. With an empty pause limit, the domain is never
 * paused.
 */
export type ThresholdDraft = Readonly<Record<keyof Thresholds, string>>;

export const RATES = [
  'bounce_rate_warning',
  'bounce_rate_pause',
  'complaint_rate_warning',
  'complaint_rate_pause',
] as const;

export function thresholdDraftOf(thresholds: Thresholds): ThresholdDraft {
  return {
    minimum_sent: String(thresholds.minimum_sent),
    ...(Object.fromEntries(RATES.map((name) => [name, percentOf(thresholds[name])])) as Record<
      (typeof RATES)[number],
      string
    >),
  };
}

/** Returns the limits in the API's format, or null if a field is not a valid number. */
export function readThresholds(draft: ThresholdDraft): Thresholds | null {
  const [bounceWarning, bouncePause, complaintWarning, complaintPause] = RATES.map((name) => rateOf(draft[name]));
  const minimum = Number(draft.minimum_sent);
  if (!Number.isInteger(minimum) || minimum < 1) return null;
  if (typeof bounceWarning !== 'number' || typeof complaintWarning !== 'number') return null;
  if (bouncePause === undefined || complaintPause === undefined) return null;
  return {
    bounce_rate_warning: bounceWarning,
    bounce_rate_pause: bouncePause,
    complaint_rate_warning: complaintWarning,
    complaint_rate_pause: complaintPause,
    minimum_sent: minimum,
  };
}

/** Formats a rate as a percentage with up to three decimals. */
export function formatRate(rate: number | null, language: string): string {
  if (rate === null) return '–';
  return new Intl.NumberFormat(language, { style: 'percent', maximumFractionDigits: 3 }).format(rate);
}

/** Returns which limit a rate reached, or `none` if too few emails were sent to judge the rate. */
export function levelOf(
  rate: number | null,
  sent: number,
  limits: { warning: number; pause: number | null; minimum: number },
): 'good' | 'warning' | 'pause' | 'none' {
  if (rate === null || sent < limits.minimum) return 'none';
  if (rate > 0 && limits.pause !== null && rate >= limits.pause) return 'pause';
  return rate > 0 && rate >= limits.warning ? 'warning' : 'good';
}

function percentOf(rate: number | null): string {
  return rate === null ? '' : String(Number((rate * 100).toFixed(6)));
}

/** Returns the rate, null for an empty text, and undefined for an invalid one. */
function rateOf(percent: string): number | null | undefined {
  if (percent.trim() === '') return null;
  const value = Number(percent);
  return Number.isFinite(value) && value >= 0 && value <= 100 ? Number((value / 100).toFixed(8)) : undefined;
}
