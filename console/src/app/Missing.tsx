import { Link } from '@tanstack/react-router';
import { type ReactNode, useEffect } from 'react';
import { reachability } from '../api/reachability';
import { FaultLine } from '../kit/form/FaultLine';
import { t } from '../kit/messages/t';

/** There is no such place. */
export function Missing(): ReactNode {
  return <main className="page"><h1>{t('missing.title')}</h1><p>{t('missing.text')}</p><p><Link to="/">{t('missing.back')}</Link></p></main>;
}

/** A screen that could not be shown. One whose files are gone with their version is loaded again. */
export function Wrong({ error }: { error: unknown }): ReactNode {
  useEffect(() => { if (reachability().isReplaced) location.reload(); }, []);
  return <main className="page"><h1>{t('wrong.title')}</h1><FaultLine fault={error} /><p><button type="button" className="primary" onClick={() => location.reload()}>{t('retry')}</button></p></main>;
}
