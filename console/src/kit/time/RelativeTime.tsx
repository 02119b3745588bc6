import type { ReactNode } from 'react';
import { Since } from './Since';
import { useNow } from './use-now';

const EVERY_MS = 30_000;

/** Time relative to now, such as `3 minutes ago`. Shows the exact time on hover. */
export function RelativeTime({ at }: { at: string }): ReactNode {
  return <Since at={at} nowMs={useNow(Date.now, EVERY_MS)} />;
}
