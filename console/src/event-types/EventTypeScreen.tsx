import { useQueryClient } from '@tanstack/react-query';
import { useNavigate, useParams } from '@tanstack/react-router';
import { type ReactNode, useState } from 'react';
import { answered } from '../api/client';
import { Crumbs } from '../kit/Crumbs';
import { Confirm } from '../kit/dialog/Confirm';
import { FaultLine } from '../kit/form/FaultLine';
import { writeJson } from '../kit/json/read-json';
import { PageState } from '../kit/load/PageState';
import { Skeleton, type SkeletonPart } from '../kit/load/Skeleton';
import { t } from '../kit/messages/t';
import { PathLink } from '../kit/PathLink';
import { Time } from '../kit/time/Time';
import { useSigned } from '../session/session';
import { type EventTypeDetail, useEventType, useVersions } from './event-type-queries';
import { EventTypeForm } from './EventTypeForm';
import { Subscribers } from './Subscribers';

const PARTS: readonly SkeletonPart[] = [
  'title',
  ['filters', 2],
  { split: [[['code', 16]], [['code', 16]]] },
  'heading',
  ['cards', 1],
  'heading',
  ['cards', 1],
];

/** One event type: its schema, earlier versions of the schema, and whether the schema is enforced. */
export function EventTypeScreen(): ReactNode {
  const { name } = useParams({ from: '/$env/event-types/$name' });
  const { environment: env, can } = useSigned();
  const { data, error } = useEventType(name);
  return (
    <div className="page">
      <title>{`${name} · Posthorn`}</title>
      <Crumbs to={`/${env}/event-types`} label={t('nav.event-types')}>
        <PathLink to={`/${env}/events`} search={{ event_type: name }}>
          {t('event-type.events')}
        </PathLink>
      </Crumbs>
      <PageState name={name} isLoaded={data !== undefined} fault={error} parts={PARTS} />
      {data && (
        <>
          <div className="heading">
            <h1>{data.name}</h1>
            {data.archived && <span className="tag">{t('event-type.archived')}</span>}
            {can('write') ? <Actions of={data} /> : <span className="quiet">{t('needs-write')}</span>}
          </div>
          {can('write') ? <EventTypeForm key={data.updated_at} of={data} /> : <Shown of={data} />}
          <Subscribers name={name} />
          <Versions name={name} />
        </>
      )}
    </div>
  );
}

function Shown({ of }: { of: EventTypeDetail }): ReactNode {
  return (
    <>
      <p>{of.description}</p>
      <h2>{t('event-type.schema')}</h2>
      {of.schema === null ? (
        <p className="quiet">{t('event-type.no-schema')}</p>
      ) : (
        <pre tabIndex={0}>{writeJson(of.schema)}</pre>
      )}
      {of.example !== null && (
        <>
          <h2>{t('event-type.example')}</h2>
          <pre tabIndex={0}>{writeJson(of.example)}</pre>
        </>
      )}
    </>
  );
}

function Versions({ name }: { name: string }): ReactNode {
  const { data, error, isPending, hasNextPage, fetchNextPage } = useVersions(name);
  const rows = data?.pages.flatMap((page) => page.data) ?? [];
  return (
    <section aria-labelledby="versions">
      <h2 id="versions">{t('event-type.versions')}</h2>
      {isPending && <Skeleton parts={[['cards', 1]]} isSection />}
      <FaultLine fault={error} />
      <ul className="cards">
        {rows.map(({ version, schema, created_at: at }) => (
          <li key={version} className="card">
            <details>
              <summary>
                {t('event-type.version', { number: version })}{' '}
                <span className="quiet">
                  <Time at={at} />
                </span>
              </summary>
              {schema === null ? (
                <p className="quiet">{t('event-type.no-schema')}</p>
              ) : (
                <pre tabIndex={0}>{writeJson(schema)}</pre>
              )}
            </details>
          </li>
        ))}
      </ul>
      {hasNextPage && (
        <p>
          <button type="button" onClick={() => void fetchNextPage()}>
            {t('more')}
          </button>
        </p>
      )}
    </section>
  );
}

function Actions({ of }: { of: EventTypeDetail }): ReactNode {
  const { api, environment: env } = useSigned();
  const queries = useQueryClient();
  const navigate = useNavigate();
  const [asked, setAsked] = useState<'archive' | 'delete' | null>(null);
  const params = { path: { name: of.name } };
  const act = t(of.archived ? 'event-type.restore' : 'event-type.archive');
  const archive = async (): Promise<void> => {
    await answered(api.PATCH('/v1/event-types/{name}', { params, body: { archived: !of.archived } }));
    await queries.invalidateQueries({ queryKey: ['event-type', env, of.name] });
    await queries.invalidateQueries({ queryKey: ['event-types', env] });
  };
  const remove = async (): Promise<void> => {
    await answered(api.DELETE('/v1/event-types/{name}', { params }));
    await navigate({ to: '/$env/event-types', params: { env }, search: {} });
    queries.removeQueries({ queryKey: ['event-type', env, of.name] });
    await queries.invalidateQueries({ queryKey: ['event-types', env] });
  };
  return (
    <span className="actions">
      <button type="button" onClick={() => setAsked('archive')}>
        {act}
      </button>
      <button type="button" className="destructive" onClick={() => setAsked('delete')}>
        {t('delete')}
      </button>
      {asked === 'archive' && (
        <Confirm
          title={act}
          action={act}
          success={t(of.archived ? 'event-type.restored' : 'event-type.archived-done')}
          onConfirm={archive}
          onClose={() => setAsked(null)}
        >
          <p>{t(of.archived ? 'event-type.restore-text' : 'event-type.archive-text')}</p>
        </Confirm>
      )}
      {asked === 'delete' && (
        <Confirm
          title={t('delete')}
          action={t('delete')}
          isDangerous
          typed={of.name}
          success={t('event-type.deleted')}
          onConfirm={remove}
          onClose={() => setAsked(null)}
        >
          <p>{t('event-type.delete-text')}</p>
        </Confirm>
      )}
    </span>
  );
}
