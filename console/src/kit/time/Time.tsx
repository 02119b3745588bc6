import type { ReactNode } from 'react';
import { usePreferences } from '../preferences';
import { tellTime } from './format';

/** A time in the reader's zone; in UTC on hover. `isShort` leaves out the day where it is today's, else the year. */
export function Time({ at, isShort = false }: { at: string; isShort?: boolean }): ReactNode {
  const { local, short, near, utc } = tellTime(at, usePreferences().language);
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
