import './endpoints.css';
import { Link, Outlet, useParams } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { CopyButton } from '../kit/CopyButton';
import { Crumbs } from '../kit/Crumbs';
import { PageState } from '../kit/load/PageState';
import { t } from '../kit/messages/t';
import { showCurrent } from '../kit/show-current';
import { Status } from '../kit/status/Status';
import { useSigned } from '../session/session';
import { type EndpointDetail, useEndpoint } from './endpoint-queries';
import { useStatusChange } from './use-status-change';

const TABS = [
  ['/$env/endpoints/$id', 'endpoint.setup'],
  ['/$env/endpoints/$id/requests', 'endpoint.requests'],
  ['/$env/endpoints/$id/routes', 'endpoint.routes'],
  ['/$env/endpoints/$id/transform', 'endpoint.transform'],
  ['/$env/endpoints/$id/answers', 'endpoint.answers'],
  ['/$env/endpoints/$id/replay', 'endpoint.replay'],
  ['/$env/endpoints/$id/settings', 'endpoint.settings'],
] as const;

/** Header and tabs of one inbound endpoint. */
export function EndpointLayout(): ReactNode {
  const { id } = useParams({ from: '/$env/endpoints/$id' });
  const { environment: env } = useSigned();
  const { data, error } = useEndpoint(id);
  return (
    <div className="page endpoint">
      <title>{`${data?.name ?? id} · Posthorn`}</title>
      <Crumbs to={`/${env}/endpoints`} label={t('nav.endpoints')} />
      <PageState name={id} isLoaded={data !== undefined} fault={error} />
      {data && (
        <>
          <div className="heading">
            <h1>{data.name}</h1>
            <Status of={data.status} />
            <Actions of={data} />
          </div>
          <p className="receive-url">
            <span className="quiet">{t('endpoint.url')}</span> <code>{data.url}</code>{' '}
            <CopyButton text={data.url} label={t('copy')} />
          </p>
          {data.status !== 'active' && (
            <p className="why">{t(data.status === 'paused' ? 'endpoint.paused-why' : 'endpoint.disabled-why')}</p>
          )}
          <nav ref={showCurrent} className="tabs" aria-label={t('endpoint.tabs')}>
            {TABS.map(([to, label], index) => (
              <Link
                key={to}
                to={to}
                params={{ env, id }}
                activeOptions={{ exact: index === 0 }}
                activeProps={{ 'aria-current': 'page' }}
              >
                {t(label)}
              </Link>
            ))}
          </nav>
          <Outlet />
        </>
      )}
    </div>
  );
}

function Actions({ of }: { of: EndpointDetail }): ReactNode {
  const { can } = useSigned();
  const changeStatus = useStatusChange();
  if (!can('write')) return <span className="quiet">{t('needs-write')}</span>;
  return (
    <span className="actions">
      <button type="button" onClick={() => changeStatus(of)}>
        {t(of.status === 'active' ? 'endpoint.pause' : 'endpoint.activate')}
      </button>
    </span>
  );
}
