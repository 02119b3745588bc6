import './applications.css';
import { useQueryClient } from '@tanstack/react-query';
import { Link, Outlet, useParams } from '@tanstack/react-router';
import { type ReactNode, useState } from 'react';
import { answered } from '../api/client';
import { CopyButton } from '../kit/CopyButton';
import { Crumbs } from '../kit/Crumbs';
import { Confirm } from '../kit/dialog/Confirm';
import { Notes } from '../kit/form/EditNotes';
import { PageState } from '../kit/load/PageState';
import type { SkeletonPart } from '../kit/load/Skeleton';
import { type MessageKey, t } from '../kit/messages/t';
import { PathLink } from '../kit/PathLink';
import { usePreferences } from '../kit/preferences';
import { showCurrent } from '../kit/show-current';
import { useTab } from '../kit/use-tab';
import { useSigned } from '../session/session';
import { type ApplicationDetail, useApplication } from './application-queries';
import { lastBrand, themeOf } from './portal-draft';

/** Routes of the tabs, with their names and the parts of their placeholders. */
const TABS = [
  ['/$env/applications/$id', 'application.figures', ['title', ['tiles', 5], 'plots']],
  ['/$env/applications/$id/endpoints', 'application.endpoints', ['title', ['rows', 6]]],
  ['/$env/applications/$id/messages', 'application.messages', [['rows', 6]]],
  [
    '/$env/applications/$id/repair',
    'application.repair',
    ['heading', 'text', ['filters', 2], 'heading', 'text', ['filters', 2]],
  ],
  ['/$env/applications/$id/portal', 'portal.tab', ['heading', 'text', ['fields', 3]]],
  ['/$env/applications/$id/settings', 'endpoint.settings', ['title', ['facts', 2]]],
] as const satisfies readonly (readonly [to: string, label: MessageKey, parts: readonly SkeletonPart[]])[];

/** Routes of the screens, with the parts of their placeholders. */
const PLACEHOLDERS: readonly (readonly [to: string, parts: readonly SkeletonPart[]])[] = [
  ...TABS.map(([to, , parts]) => [to, parts] as const),
  [
    '/$env/applications/$id/endpoints/$endpoint',
    ['title', 'text', ['facts', 4], 'heading', ['tiles', 5], 'heading', ['rows', 4]],
  ],
  ['/$env/applications/$id/endpoints/$endpoint/edit', ['heading', ['fields', 6]]],
];

/** Header and tabs of one application. */
export function ApplicationLayout(): ReactNode {
  const { id } = useParams({ from: '/$env/applications/$id' });
  const { can, environment: env } = useSigned();
  const { data, error } = useApplication(id);
  const placeholder = useTab(PLACEHOLDERS);
  return (
    <div className="page">
      <title>{`${data?.name ?? id} · Posthorn`}</title>
      <Crumbs to={`/${env}/applications`} label={t('nav.applications')} />
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
            <Preview of={data} />
            {!can('write') && <span className="quiet">{t('needs-write')}</span>}
          </div>
          <p className="ids">
            {data.uid !== null && (
              <span className="actions">
                <span className="quiet">{t('application.uid')}</span> <code>{data.uid}</code>{' '}
                <CopyButton text={data.uid} />
              </span>
            )}
            <span className="actions">
              <span className="quiet">{t('column.id')}</span> <code>{data.id}</code> <CopyButton text={data.id} />
            </span>
            <PathLink to={`/${env}/events`} search={{ application: data.id }}>
              {t('application.events')}
            </PathLink>
          </p>
          <Notes of={data.metadata} />
          <nav ref={showCurrent} className="tabs" aria-label={t('application.tabs')}>
            {TABS.map(([to, label], index) => (
              <Link
                key={to}
                to={to}
                params={{ env, id }}
                activeOptions={{ exact: index === 0, includeSearch: false }}
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

/** Opens a preview of this customer's portal in a new tab. */
function Preview({ of }: { of: ApplicationDetail }): ReactNode {
  const { api, environment: env } = useSigned();
  const { language } = usePreferences();
  const queries = useQueryClient();
  const [isAsked, setAsked] = useState(false);
  const open = async (): Promise<void> => {
    const { url } = await answered(
      api.POST('/v1/app/{app}/portal/preview', {
        params: { path: { app: of.id } },
        body: { locale: language, theme: themeOf(lastBrand(env)) },
      }),
    );
    Object.assign(document.createElement('a'), { href: url, target: '_blank', rel: 'noopener noreferrer' }).click();
    await queries.invalidateQueries({ queryKey: ['portal-links', env, of.id] });
  };
  return (
    <>
      <button type="button" onClick={() => setAsked(true)}>
        {t('application.preview')}
      </button>
      {isAsked && (
        <Confirm
          title={t('application.preview')}
          action={t('application.preview-open')}
          onConfirm={open}
          onClose={() => setAsked(false)}
        >
          <p>{t('application.preview-text')}</p>
        </Confirm>
      )}
    </>
  );
}
