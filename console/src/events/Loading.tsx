import type { ReactNode } from 'react';
import { t } from '../kit/messages/t';

/** That something is asked for, or that it is asked for again once the service has said that it may. */
export function Loading({ fault }: { fault: unknown }): ReactNode {
  const seconds = (fault as { retryAfterSeconds?: number | null } | null)?.retryAfterSeconds;
  return (
    <span role="status">{seconds === null || seconds === undefined ? t('loading') : t('waits', { seconds })}</span>
  );
}
