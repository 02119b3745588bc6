import type { ReactNode } from 'react';
import { usePreferences } from '../preferences';
import { formatTime } from './format';

/**
 * Time in the user's time zone, and in UTC on hover. With `isShort`, omits the day for times of today, and the year for
 * other times.
 */
export function Time({ at, isShort = false }: { at: string; isShort?: boolean }): ReactNode {
  const { local, short, near, utc } = formatTime(at, usePreferences().language);
  if (isShort)
    return (
      <time dateTime={at} title={utc}>
        {new Date(at).toDateString() === new Date().toDateString() ? short : near}
      </time>
    );
  return (
    <time dateTime={at} title={utc}>
      <span className="time-long">{local}</span>
      <span className="time-short">{short}</span>
    </time>
  );
}
