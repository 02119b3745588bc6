import type { ReactNode } from 'react';
import { usePreferences } from '../preferences';
import { tellDistance, tellTime } from './format';

/** Relative time by the given clock, in the past or future. Shows the absolute time on hover. */
export function Since({ at, nowMs }: { at: string; nowMs: number }): ReactNode {
  const { language } = usePreferences();
  const { local, utc } = tellTime(at, language);
  return (
    <time dateTime={at} title={`${local} · ${utc}`}>
      {tellDistance(at, nowMs, language)}
    </time>
  );
}
