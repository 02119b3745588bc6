import type { ReactNode } from 'react';
import { ListSkeleton, PageSkeleton } from '../kit/load/Skeleton';
import { t } from '../kit/messages/t';

interface LoadingProps {
  fault: unknown;
}

/** Loading indicator. If the service requested a wait, it also shows when the request is repeated. */
export function Loading({ fault }: LoadingProps): ReactNode {
  return <span role="status">{waitIn(fault) ?? t('loading')}</span>;
}

/** Placeholder that fills the space of the event table while the events load. */
export function EventsSkeleton({ fault }: LoadingProps): ReactNode {
  return (
    <div className="table-box">
      <Wait fault={fault} />
      <ListSkeleton rows={SKELETON_ROWS} className="events-skeleton" />
    </div>
  );
}

/** Placeholder of the page of an event. */
export function EventSkeleton({ fault }: LoadingProps): ReactNode {
  return (
    <>
      <Wait fault={fault} />
      <PageSkeleton />
    </>
  );
}

const SKELETON_ROWS = 12;

function Wait({ fault }: LoadingProps): ReactNode {
  const wait = waitIn(fault);
  return wait === null ? null : <p role="status">{wait}</p>;
}

/** Returns a sentence about the wait that the service requested, or null if it requested none. */
function waitIn(fault: unknown): string | null {
  const seconds = (fault as { retryAfterSeconds?: number | null } | null)?.retryAfterSeconds;
  return seconds === null || seconds === undefined ? null : t('waits', { seconds });
}
