import type { ReactNode } from 'react';
import { usePreferences } from '../preferences';
import { tellTime } from './format';

/** A time in the reader's zone; in UTC on hover. */
export function Time({ at }: { at: string }): ReactNode {
  const { local, short, utc } = tellTime(at, usePreferences().language);
  return <time dateTime={at} title={utc}><span className="time-long">{local}</span><span className="time-short">{short}</span></time>;
}
