import type { ReactNode } from 'react';
import { ListSkeleton } from '../kit/load/Skeleton';
import { t } from '../kit/messages/t';
import { useSecondsLeft } from '../kit/time/use-seconds-left';

interface LoadingProps {
  fault: unknown;
}

/** Loading indicator. If the service requested a wait, it also shows when the request is repeated. */
export function Loading({ fault }: LoadingProps): ReactNode {
  const wait = useWait(fault);
  return wait === null ? <span role="status">{t('loading')}</span> : <span role="timer">{wait}</span>;
}

/** Placeholder that fills the space of the event table while the events load. */
export function EventsSkeleton({ fault }: LoadingProps): ReactNode {
  return (
    <div className="table-box events-skeleton">
      <Wait fault={fault} />
      <ListSkeleton rows={SKELETON_ROWS} />
    </div>
  );
}

const SKELETON_ROWS = 12;

/** Says when the request is repeated, if the service requested a wait. */
export function Wait({ fault }: LoadingProps): ReactNode {
  const wait = useWait(fault);
  return wait === null ? null : <p role="timer">{wait}</p>;
}

/** Returns a sentence about the rest of the wait that the service requested, or null if there is none. */
function useWait(fault: unknown): string | null {
  const asked = (fault as { retryAfterSeconds?: number | null } | null)?.retryAfterSeconds ?? 0;
  const seconds = useSecondsLeft(asked, fault);
  return seconds === 0 ? null : t('waits', { seconds });
}
