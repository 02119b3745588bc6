import type { ReactNode } from 'react';
import { t } from '../kit/messages/t';
import { PlotSkeleton } from '../kit/plot/PlotSkeleton';
import { PlotsNote } from './Plots';

const TOTALS = [
  'overview.success-rate',
  'overview.waiting',
  'overview.failed',
  'overview.accepted',
  'overview.latency',
] as const;

/**
 * Placeholder of the overview while its data loads. Totals and plots already have their final height, so that nothing
 * moves.
 */
export function OverviewSkeleton(): ReactNode {
  return (
    <div role="status">
      <span className="offscreen">{t('loading')}</span>
      <div className="totals" aria-hidden="true">
        {TOTALS.map((label) => (
          <span key={label} className="total">
            <span className="total-label">{t(label)}</span>
            <span className="total-value skeleton">
              <i className="skeleton-line" />
            </span>
            <span className="quiet skeleton">
              <i className="skeleton-line" />
            </span>
          </span>
        ))}
      </div>
      <section className="attention">
        <div className="heading">
          <h2>{t('overview.attention')}</h2>
        </div>
        <div className="attention-place">
          <p className="all-well skeleton" aria-hidden="true">
            <i className="skeleton-line" />
          </p>
        </div>
      </section>
      <PlotsNote />
      <div className="plots">
        <PlotSkeleton />
        <PlotSkeleton />
      </div>
    </div>
  );
}
