import './plot.css';
import '../load/skeleton.css';
import type { ReactNode } from 'react';

/**
 * Placeholder of a plot that is loading, as high as the plot. Screen readers skip it, because the page announces the
 * loading.
 */
export function PlotSkeleton(): ReactNode {
  return (
    <div className="plot skeleton" aria-hidden="true">
      <i className="skeleton-line" />
      <i className="skeleton-line" />
      <div className="plot-canvas" />
      <i className="skeleton-line" />
    </div>
  );
}
