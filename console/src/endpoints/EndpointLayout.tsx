import './endpoints.css';
import { useQueryClient } from '@tanstack/react-query';
import { Link, Outlet, useNavigate, useParams } from '@tanstack/react-router';
import { type ReactNode, useState } from 'react';
import { answered } from '../api/client';
import { CopyButton } from '../kit/CopyButton';
import { Crumbs } from '../kit/Crumbs';
import { Confirm } from '../kit/dialog/Confirm';
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
  const { can, api, environment: env } = useSigned();
  const queries = useQueryClient();
  const navigate = useNavigate();
  const changeStatus = useStatusChange();
  const [isDeleting, setDeleting] = useState(false);
  if (!can('write')) return <span className="quiet">{t('needs-write')}</span>;
  const remove = async (): Promise<void> => {
    await answered(api.DELETE('/v1/endpoints/{id}', { params: { path: { id: of.id } } }));
    await navigate({ to: '/$env/endpoints', params: { env }, search: {} });
    queries.removeQueries({ queryKey: ['endpoint', env, of.id] });
    await queries.invalidateQueries({ queryKey: ['endpoints', env] });
  };
  return (
    <span className="actions">
      <button type="button" onClick={() => changeStatus(of)}>
        {t(of.status === 'active' ? 'endpoint.pause' : 'endpoint.activate')}
      </button>
      <button type="button" onClick={() => setDeleting(true)}>
        {t('delete')}
      </button>
      {isDeleting && (
        <Confirm
          title={t('delete')}
          action={t('delete')}
          isDangerous
          typed={of.name}
          onConfirm={remove}
          onClose={() => setDeleting(false)}
        >
          <p>{t('endpoint.delete-text')}</p>
        </Confirm>
      )}
    </span>
  );
}
