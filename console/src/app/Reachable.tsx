import { type ReactNode, useSyncExternalStore } from 'react';
import { signInAddress } from '../api/client';
import { onReachability, reachability } from '../api/reachability';
import { t } from '../kit/messages/t';
import { Time } from '../kit/time/Time';

/** Notice that the service does not respond, that the session has expired, or that a new version was deployed. */
export function Reachable(): ReactNode {
  const { outage, isSignedOut, isReplaced } = useSyncExternalStore(onReachability, reachability);
  if (isSignedOut) {
    return (
      <div className="notice" role="alert">
        {t('signed-out')} <a href={signInAddress(location.pathname + location.search)}>{t('sign-in')}</a>
      </div>
    );
  }
  if (outage === null && isReplaced) {
    return (
      <div className="notice" role="alert">
        {t('replaced')}{' '}
        <button type="button" className="small" onClick={() => location.reload()}>
          {t('reload')}
        </button>
      </div>
    );
  }
  if (outage === null) return null;
  return (
    <div className="notice" role="alert">
      {t('silent')}
      {outage.lastSuccessAt !== null && (
        <>
          {' '}
          {t('silent.since')} <Time at={new Date(outage.lastSuccessAt).toISOString()} />
        </>
      )}
    </div>
  );
}
