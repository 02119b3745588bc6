import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { t } from '../messages/t';
import { type Range, RANGES } from './range';

/** Links that change the time range in the current page's URL. */
export function RangeLinks({ chosen }: { chosen: Range }): ReactNode {
  return (
    <nav className="segmented" aria-label={t('overview.range')}>
      {RANGES.map((range) => (
        <Link
          key={range}
          to="."
          search={{ range } as never}
          replace
          resetScroll={false}
          aria-current={range === chosen ? 'true' : undefined}
          className="button"
        >
          {t(`overview.range.${range}`)}
        </Link>
      ))}
    </nav>
  );
}
