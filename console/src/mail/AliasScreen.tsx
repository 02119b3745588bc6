import './mail.css';
import { useQueryClient } from '@tanstack/react-query';
import { useNavigate, useParams, useSearch } from '@tanstack/react-router';
import { type ReactNode, useState } from 'react';
import { answered } from '../api/client';
import { CopyButton } from '../kit/CopyButton';
import { Crumbs } from '../kit/Crumbs';
import { Confirm } from '../kit/dialog/Confirm';
import { FaultLine } from '../kit/form/FaultLine';
import { PageState } from '../kit/load/PageState';
import { ListSkeleton, type SkeletonPart } from '../kit/load/Skeleton';
import { t, word } from '../kit/messages/t';
import { usePreferences } from '../kit/preferences';
import { Status } from '../kit/status/Status';
import { TextFilter } from '../kit/TextFilter';
import { RANGES } from '../kit/time/range';
import { Time } from '../kit/time/Time';
import { Name } from '../session/ResourceName';
import { useSigned } from '../session/session';
import { Addresses } from './Addresses';
import { AliasActionsForm } from './AliasActionsForm';
import { AliasForm } from './AliasForm';
import { AliasReplay } from './AliasReplay';
import { formatBytes } from './format-bytes';
import { useLeave } from './leave';
import { MESSAGE_STATES, type MessageFilters } from './mail-filters';
import { type Alias, useAlias, useMessages } from './mail-queries';
import { MessageList } from './MessageList';
import { periodWord } from './period-word';

const PARTS: readonly SkeletonPart[] = ['title', ['facts', 5], 'heading', ['filters', 3], ['rows', 6]];

/** One alias, and its received messages. */
export function AliasScreen(): ReactNode {
  const { alias: id } = useParams({ from: '/$env/inbox/$alias' });
  const { environment: env } = useSigned();
  const navigate = useNavigate();
  const { data, error } = useAlias(id);
  useLeave(() => void navigate({ to: '/$env/inbox', params: { env } }));
  return (
    <div className="page">
      <title>{`${data?.address ?? id} · Posthorn`}</title>
      <Crumbs to={`/${env}/inbox`} label={t('nav.inbox')} />
      <PageState name={id} isLoaded={data !== undefined} fault={error} parts={PARTS} />
      {data && (
        <>
          <div className="heading">
            <h1>
              {data.address} <CopyButton text={data.address} />
            </h1>
            <Actions alias={data} />
          </div>
          <Facts alias={data} />
          <Messages alias={data} />
        </>
      )}
    </div>
  );
}

function Facts({ alias }: { alias: Alias }): ReactNode {
  const { language } = usePreferences();
  return (
    <dl className="facts">
      <div>
        <dt>{t('alias.goes-to')}</dt>
        <dd>
          {alias.routes.length === 0
            ? t('alias.kept')
            : alias.routes.map(({ destination, filter }) => (
                <div key={destination}>
                  <Name id={destination} />
                  {filter !== null && <span className="tag">{t('alias.filtered')}</span>}
                </div>
              ))}
        </dd>
      </div>
      <div>
        <dt>{t('alias.senders')}</dt>
        <dd>{alias.allowedSenders.join(', ') || t('alias.everybody')}</dd>
      </div>
      <div>
        <dt>{t('alias.max')}</dt>
        <dd>{alias.maxSizeBytes === null ? t('alias.max-none') : formatBytes(alias.maxSizeBytes, language)}</dd>
      </div>
      {alias.forward_addresses.length > 0 && (
        <div>
          <dt>{t('alias.forwards')}</dt>
          <dd>
            {alias.forward_addresses.map(({ address, status }) => (
              <div key={address}>
                <Addresses of={[address]} /> <Status of={status} kind="forward" />
              </div>
            ))}
          </dd>
        </div>
      )}
      {alias.auto_reply !== null && (
        <div>
          <dt>{t('alias.reply')}</dt>
          <dd>
            <bdi>{alias.auto_reply.subject}</bdi>{' '}
            <span className="quiet">{t('alias.once-per', { period: periodWord(alias.auto_reply.once_per) })}</span>
          </dd>
        </div>
      )}
      <div>
        <dt>{t('column.id')}</dt>
        <dd>
          <code>{alias.id}</code> <CopyButton text={alias.id} />
        </dd>
      </div>
      <div>
        <dt>{t('created')}</dt>
        <dd>
          <Time at={alias.createdAt} />
        </dd>
      </div>
    </dl>
  );
}

function Actions({ alias }: { alias: Alias }): ReactNode {
  const { api, can, environment: env } = useSigned();
  const queries = useQueryClient();
  const navigate = useNavigate();
  const [asked, setAsked] = useState<'edit' | 'actions' | 'replay' | 'delete' | null>(null);
  if (!can('write')) return <span className="quiet">{t('needs-write')}</span>;
  const close = (): void => setAsked(null);
  const remove = async (): Promise<void> => {
    await answered(api.DELETE('/v1/aliases/{alias}', { params: { path: { alias: alias.id } } }));
    await navigate({ to: '/$env/inbox', params: { env } });
    queries.removeQueries({ queryKey: ['alias', env, alias.id] });
    await queries.invalidateQueries({ queryKey: ['aliases', env] });
  };
  return (
    <span className="actions">
      <button type="button" onClick={() => setAsked('edit')}>
        {t('alias.edit')}
      </button>
      <button type="button" onClick={() => setAsked('actions')}>
        {t('alias.actions')}
      </button>
      <button type="button" onClick={() => setAsked('replay')}>
        {t('alias.replay')}
      </button>
      <button type="button" className="destructive" onClick={() => setAsked('delete')}>
        {t('delete')}
      </button>
      {asked === 'edit' && <AliasForm alias={alias} onClose={close} />}
      {asked === 'actions' && <AliasActionsForm alias={alias} onClose={close} />}
      {asked === 'replay' && <AliasReplay alias={alias} onClose={close} />}
      {asked === 'delete' && (
        <Confirm
          title={t('delete')}
          action={t('delete')}
          isDangerous
          typed={alias.address}
          onConfirm={remove}
          onClose={close}
        >
          <p>{t('alias.delete')}</p>
        </Confirm>
      )}
    </span>
  );
}

function MessageFilterBar({ filters, alias }: { filters: MessageFilters; alias: string }): ReactNode {
  const { environment: env } = useSigned();
  const navigate = useNavigate();
  const set = (changes: Partial<Record<keyof MessageFilters, string>>): void => {
    const search = Object.fromEntries(
      Object.entries({ ...filters, ...changes }).filter(([, value]) => value !== ''),
    ) as MessageFilters;
    void navigate({ to: '/$env/inbox/$alias', params: { env, alias }, search });
  };
  return (
    <form className="mail-filters" role="search" aria-label={t('filter')} onSubmit={(event) => event.preventDefault()}>
      <label>
        {t('filter.status')}
        <select value={filters.state ?? ''} onChange={(event) => set({ state: event.target.value })}>
          <option value="">{t('filter.any')}</option>
          {MESSAGE_STATES.map((state) => (
            <option key={state} value={state}>
              {word('status', state)}
            </option>
          ))}
        </select>
      </label>
      <label>
        {t('filter.range')}
        <select value={filters.since ?? ''} onChange={(event) => set({ since: event.target.value })}>
          <option value="">{t('filter.all-time')}</option>
          {RANGES.map((range) => (
            <option key={range} value={range}>
              {t(`range.${range}`)}
            </option>
          ))}
        </select>
      </label>
      <TextFilter label={t('alias.from')} value={filters.from ?? ''} onChange={(from) => set({ from })} />
      {Object.keys(filters).length > 0 && (
        <button
          type="button"
          onClick={() => void navigate({ to: '/$env/inbox/$alias', params: { env, alias }, search: {} })}
        >
          {t('filter.clear')}
        </button>
      )}
    </form>
  );
}

function Messages({ alias }: { alias: Alias }): ReactNode {
  const filters = useSearch({ from: '/$env/inbox/$alias' });
  const { rows, data, error, isPending, hasNextPage, fetchNextPage } = useMessages(alias.id, filters);
  const isFiltered = Object.keys(filters).length > 0;
  const isEmpty = data !== undefined && rows.length === 0 && !isFiltered;
  return (
    <section>
      <h2>{t('messages')}</h2>
      {!isEmpty && <MessageFilterBar filters={filters} alias={alias.id} />}
      {isPending && <ListSkeleton isSection />}
      <FaultLine fault={error} />
      {data && rows.length === 0 && (
        <p className="empty" role="status">
          {hasNextPage
            ? t('emails.none-yet')
            : isFiltered
              ? t('alias.none-match')
              : t('alias.nothing-came', { address: alias.address })}
        </p>
      )}
      {rows.length > 0 && <MessageList rows={rows} alias={alias} />}
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
