import type { ReactNode } from 'react';
import { usePreferences } from '../preferences';
import { tellDistance, tellTime } from './format';

/** How long ago, or in how long, by a clock that is given; the time itself on hover. */
export function Since({ at, nowMs }: { at: string; nowMs: number }): ReactNode {
  const { language } = usePreferences();
  const { local, utc } = tellTime(at, language);
  return (
    <time dateTime={at} title={`${local} · ${utc}`}>
      {tellDistance(at, nowMs, language)}
    </time>
  );
}
