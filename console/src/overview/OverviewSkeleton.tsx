import type { ReactNode } from 'react';
import { t } from '../kit/messages/t';
import { PlotSkeleton } from '../kit/plot/PlotSkeleton';
import { PlotsNote } from './Plots';

const TOTALS = 5;

/** Placeholder of the overview. Its totals and plots are as high as those with data, so that nothing moves. */
export function OverviewSkeleton(): ReactNode {
  return (
    <div role="status">
      <span className="offscreen">{t('loading')}</span>
      <div className="totals skeleton" aria-hidden="true">
        {Array.from({ length: TOTALS }, (_, index) => (
          <span key={index} className="total">
            <span className="total-label">
              <i className="skeleton-line" />
            </span>
            <span className="total-value">
              <i className="skeleton-line" />
            </span>
            <span className="quiet">
              <i className="skeleton-line" />
            </span>
          </span>
        ))}
      </div>
      <section className="attention">
        <h2>{t('overview.attention')}</h2>
        <p className="all-well skeleton" aria-hidden="true">
          <i className="skeleton-line" />
        </p>
      </section>
      <PlotsNote />
      <div className="plots">
        <PlotSkeleton />
        <PlotSkeleton />
      </div>
    </div>
  );
}
