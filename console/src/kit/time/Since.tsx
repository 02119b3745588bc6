import type { ReactNode } from 'react';
import { usePreferences } from '../preferences';
import { formatDistance, formatTime } from './format';

/** Time relative to `nowMs`, in the past or future. Shows the absolute time on hover. */
export function Since({ at, nowMs }: { at: string; nowMs: number }): ReactNode {
  const { language } = usePreferences();
  const { local, utc } = formatTime(at, language);
  return (
    <time dateTime={at} title={`${local} · ${utc}`}>
      {formatDistance(at, nowMs, language)}
    </time>
  );
}
