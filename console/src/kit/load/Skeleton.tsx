import './skeleton.css';
import type { ReactNode } from 'react';
import { t } from '../messages/t';
import { usePreferences } from '../preferences';

const LIST_ROWS = 6;

interface ListSkeletonProps {
  rows?: number;
  /** CSS class of a list whose rows have a different height. */
  className?: string;
}

/** Placeholder of a list that is loading. Its rows are as high as those of the list. */
export function ListSkeleton({ rows = LIST_ROWS, className = '' }: ListSkeletonProps): ReactNode {
  const { density } = usePreferences();
  return (
    <div className={`skeleton list ${density} ${className}`} role="status">
      <span className="offscreen">{t('loading')}</span>
      {Array.from({ length: rows }, (_, index) => (
        <span key={index} className="skeleton-row" aria-hidden="true">
          <i />
          <i />
          <i />
        </span>
      ))}
    </div>
  );
}

/** Placeholder of a page about one object that is loading: its heading and its facts. */
export function PageSkeleton(): ReactNode {
  return (
    <div className="skeleton page-skeleton" role="status">
      <span className="offscreen">{t('loading')}</span>
      <i className="skeleton-heading" aria-hidden="true" />
      {Array.from({ length: 4 }, (_, index) => (
        <span key={index} className="skeleton-fact" aria-hidden="true">
          <i />
          <i />
        </span>
      ))}
    </div>
  );
}
