import type { ReactNode } from 'react';

/** Progress as a bar and in words. The bar is full if `done` exceeds `of`. */
export function Progress({ done, of, label }: { done: number; of: number; label: string }): ReactNode {
  return (
    <span className="progress">
      <progress value={Math.min(done, of)} max={Math.max(1, of)} aria-label={label} />{' '}
      <span className="quiet">{label}</span>
    </span>
  );
}
