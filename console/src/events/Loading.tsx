import type { ReactNode } from 'react';
import { t } from '../kit/messages/t';

/** Loading indicator. If the service requested a wait, it also shows when the request is repeated. */
export function Loading({ fault }: { fault: unknown }): ReactNode {
  const seconds = (fault as { retryAfterSeconds?: number | null } | null)?.retryAfterSeconds;
  return (
    <span role="status">{seconds === null || seconds === undefined ? t('loading') : t('waits', { seconds })}</span>
  );
}
