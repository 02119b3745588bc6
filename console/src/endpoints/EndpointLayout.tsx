import './endpoints.css';
import { Link, Outlet, useParams } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { CopyButton } from '../kit/CopyButton';
import { Crumbs } from '../kit/Crumbs';
import { PageState } from '../kit/load/PageState';
import type { SkeletonPart } from '../kit/load/Skeleton';
import { type MessageKey, t } from '../kit/messages/t';
import { showCurrent } from '../kit/show-current';
import { Status } from '../kit/status/Status';
import { useTab } from '../kit/use-tab';
import { useSigned } from '../session/session';
import { type EndpointDetail, useEndpoint } from './endpoint-queries';
import { useStatusChange } from './use-status-change';

/** Routes of the tabs, with their names and the parts of their placeholders. */
const TABS = [
  ['/$env/endpoints/$id', 'endpoint.setup', ['heading', ['cards', 3], 'heading', ['facts', 8]]],
  [
    '/$env/endpoints/$id/requests',
    'endpoint.requests',
    [
      ['filters', 3],
      ['rows', 6],
    ],
  ],
  ['/$env/endpoints/$id/routes', 'endpoint.routes', ['title', ['cards', 2]]],
  [
    '/$env/endpoints/$id/transform',
    'endpoint.transform',
    [
      ['filters', 2],
      ['code', 18],
    ],
  ],
  ['/$env/endpoints/$id/answers', 'endpoint.answers', ['heading', ['fields', 2], 'heading', ['code', 16]]],
  ['/$env/endpoints/$id/replay', 'endpoint.replay', ['heading', 'text', ['filters', 2]]],
  ['/$env/endpoints/$id/settings', 'endpoint.settings', ['heading', ['fields', 6]]],
] as const satisfies readonly (readonly [to: string, label: MessageKey, parts: readonly SkeletonPart[]])[];

/** Routes of the screens, with the parts of their placeholders. */
const PLACEHOLDERS: readonly (readonly [to: string, parts: readonly SkeletonPart[]])[] = [
  ...TABS.map(([to, , parts]) => [to, parts] as const),
  ['/$env/endpoints/$id/requests/$request', ['title', 'text', ['facts', 6], 'heading', ['code', 8]]],
];

/** Header and tabs of one inbound endpoint. */
export function EndpointLayout(): ReactNode {
  const { id } = useParams({ from: '/$env/endpoints/$id' });
  const { environment: env } = useSigned();
  const { data, error } = useEndpoint(id);
  const placeholder = useTab(PLACEHOLDERS);
  return (
    <div className="page endpoint">
      <title>{`${data?.name ?? id} · Posthorn`}</title>
      <Crumbs to={`/${env}/endpoints`} label={t('nav.endpoints')} />
      <PageState
        name={id}
        isLoaded={data !== undefined}
        fault={error}
        parts={['title', 'text', 'tabs', ...(placeholder?.[1] ?? [])]}
      />
      {data && (
        <>
          <div className="heading">
            <h1>{data.name}</h1>
            <Status of={data.status} />
            <Actions of={data} />
          </div>
          <p className="receive-url">
            <span className="quiet">{t('endpoint.url')}</span> <code>{data.url}</code> <CopyButton text={data.url} />
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
