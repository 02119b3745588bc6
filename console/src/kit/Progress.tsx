import type { ReactNode } from 'react';

/** Progress as a bar and in words. If `done` exceeds `of`, the bar is full. */
export function Progress({ done, of, label }: { done: number; of: number; label: string }): ReactNode {
  return (
    <span className="progress">
      <progress value={Math.min(done, of)} max={Math.max(1, of)} aria-label={label} />{' '}
      <span className="quiet">{label}</span>
    </span>
  );
}
