import type { ReactNode } from 'react';
import { t } from '../messages/t';
import { usePreferences } from '../preferences';
import { formatAge, formatClock, formatDistance, formatTime } from './format';

/**
 * Time relative to `nowMs`, in the past or future. The exact time is shown on hover and read by screen readers. With
 * `isShort`, abbreviates the unit, for narrow columns.
 */
export function Since({ at, nowMs, isShort = false }: { at: string; nowMs: number; isShort?: boolean }): ReactNode {
  const { language } = usePreferences();
  const { local, utc } = formatTime(at, language);
  const distance = formatDistance(at, nowMs, language);
  return (
    <time dateTime={at} title={`${local} · ${utc}`} aria-label={`${distance}, ${local}`}>
      {isShort ? formatDistance(at, nowMs, language, 'short') : distance}
    </time>
  );
}

/** Start of a state that still lasts, with its duration: `since 14:05, 2 h`. Shows the exact time on hover. */
export function SinceAge({ at, nowMs }: { at: string; nowMs: number }): ReactNode {
  const { language } = usePreferences();
  const { local, utc } = formatTime(at, language);
  return (
    <time dateTime={at} title={`${local} · ${utc}`}>
      {t('since-age', { at: formatClock(at, nowMs, language), age: formatAge(at, nowMs, language) })}
    </time>
  );
}
