import type { ReactNode } from 'react';
import { usePreferences } from '../preferences';
import { tellTime } from './format';

/** A time in the reader's zone; in UTC on hover. */
export function Time({ at }: { at: string }): ReactNode {
  const { local, utc } = tellTime(at, usePreferences().language);
  return <time dateTime={at} title={utc}>{local}</time>;
}
