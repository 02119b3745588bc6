import { Link, useRouter } from '@tanstack/react-router';
import { type ReactNode, useSyncExternalStore } from 'react';
import { onReachability, reachability } from '../api/reachability';
import { FaultLine } from '../kit/form/FaultLine';
import { PartNotLoaded } from '../kit/load/lazy-part';
import { t } from '../kit/messages/t';

/** Page for an unknown URL. */
export function Missing(): ReactNode {
  return (
    <main className="page">
      <h1>{t('missing.title')}</h1>
      <p>{t('missing.text')}</p>
      <p>
        <Link to="/">{t('missing.back')}</Link>
      </p>
    </main>
  );
}

/** Error page for failures that prevent the whole page from rendering. */
export function Wrong({ error }: { error: unknown }): ReactNode {
  return (
    <main className="page">
      <WrongScreen error={error} />
    </main>
  );
}

/** Error that replaces a screen. The rest of the page stays visible. */
export function WrongScreen({ error }: { error: unknown }): ReactNode {
  const router = useRouter();
  const { outage } = useSyncExternalStore(onReachability, reachability);
  const again = (
    <button type="button" className="primary" onClick={() => void router.invalidate()}>
      {t('retry')}
    </button>
  );
  if (!(error instanceof PartNotLoaded))
    return (
      <div className="page">
        <h1>{t('wrong.title')}</h1>
        <FaultLine fault={error} />
        <p>{again}</p>
      </div>
    );
  const isAway = outage !== null;
  return (
    <div className="page" role="alert">
      <h1>{t('part.title')}</h1>
      <p>{t(isAway ? 'part.away' : 'part.gone')}</p>
      <p className="actions">
        {again}{' '}
        {!isAway && (
          <button type="button" onClick={() => location.reload()}>
            {t('reload')}
          </button>
        )}
      </p>
    </div>
  );
}
