import type { ReactNode } from 'react';
import { formatCount } from '../kit/format-count';
import { t } from '../kit/messages/t';
import type { EventList } from './event-list';

/**
 * Notice of new events that the list does not show yet, with a button that shows them. Events that were only counted
 * require a reload of the list.
 */
export function News({ list: { rows, missed, showWaiting, reload } }: { list: EventList }): ReactNode {
  const { waiting, notKept } = rows;
  return (
    <div className="news" aria-live="polite">
      {waiting > 0 && notKept === 0 && (
        <button type="button" className="primary small" onClick={showWaiting}>
          {t('live.waiting', { count: waiting })}
        </button>
      )}
      {notKept > 0 && (
        <button type="button" className="primary small" onClick={reload}>
          {t('live.not-shown', { count: waiting + notKept })}
        </button>
      )}
      {missed !== null && (
        <button type="button" className="small" onClick={reload}>
          {missed.count === null || missed.count === 0
            ? t('live.gap')
            : t('live.missed', { count: formatCount({ count: missed.count, is_capped: missed.isCapped }) })}
        </button>
      )}
    </div>
  );
}
