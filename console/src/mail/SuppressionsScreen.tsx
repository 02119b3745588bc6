import './mail.css';
import { useQueryClient } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { type ReactNode, useEffect, useState } from 'react';
import { answered } from '../api/client';
import { sectionReference } from '../api/reference';
import { Confirm } from '../kit/dialog/Confirm';
import { EmptyState } from '../kit/empty/EmptyState';
import { FaultLine } from '../kit/form/FaultLine';
import { ListSkeleton } from '../kit/load/Skeleton';
import { t, word } from '../kit/messages/t';
import { useReversible } from '../kit/undo/use-reversible';
import { useSigned } from '../session/session';
import { ORIGINS, type SuppressionFilters } from './mail-filters';
import { type Suppression, useSuppressions } from './mail-queries';
import { addition, isRestorable, removal } from './suppression-changes';
import { SuppressionTable } from './SuppressionTable';

/** List of suppressed addresses, which get no mail. */
export function SuppressionsScreen(): ReactNode {
  const { api, can, environment } = useSigned();
  const queries = useQueryClient();
  const filters = useSearch({ from: '/$env/suppressions' });
  const { rows, data, error, isPending, hasNextPage, fetchNextPage } = useSuppressions(filters);
  const isFiltered = Object.keys(filters).length > 0;
  const isEmpty = data !== undefined && rows.length === 0 && !isFiltered;
  const removeManual = useManualRemoval();
  const [asked, setAsked] = useState<Suppression | 'new' | null>(null);
  const [email, setEmail] = useState('');
  const refresh = (): Promise<void> => queries.invalidateQueries({ queryKey: ['suppressions', environment] });
  const add = async (): Promise<void> => {
    await answered(api.POST('/v1/suppressions', { body: { email: email.trim() } }));
    setEmail('');
    await refresh();
  };
  const remove = async ({ id }: Suppression): Promise<void> => {
    await answered(api.DELETE('/v1/suppressions/{id}', { params: { path: { id } } }));
    await refresh();
  };
  const startRemoval = (row: Suppression): void => {
    if (isRestorable(row)) removeManual(row);
    else setAsked(row);
  };
  return (
    <div className="page">
      <title>{`${t('nav.suppressions')} · Posthorn`}</title>
      <div className="heading">
        <h1>{t('nav.suppressions')}</h1>
        {can('write') && !isEmpty && (
          <button type="button" className="primary" onClick={() => setAsked('new')}>
            {t('suppression.new')}
          </button>
        )}
        {!can('write') && <span className="quiet">{t('needs-write')}</span>}
      </div>
      {!isEmpty && <Filters filters={filters} />}
      {isPending && <ListSkeleton />}
      <FaultLine fault={error} />
      {data && rows.length === 0 && isFiltered && (
        <p className="empty" role="status">
          {t('suppression.none-match')}
        </p>
      )}
      {isEmpty && (
        <EmptyState
          icon="suppressions"
          title={t('suppression.none')}
          action={can('write') ? { label: t('suppression.new'), onSelect: () => setAsked('new') } : undefined}
          docs={{ label: t('docs.api'), href: sectionReference('Suppressions') }}
        >
          {t('suppression.none-text')}
        </EmptyState>
      )}
      {rows.length > 0 && <SuppressionTable rows={rows} onRemove={startRemoval} />}
      {hasNextPage && (
        <p>
          <button type="button" onClick={() => void fetchNextPage()}>
            {t('more')}
          </button>
        </p>
      )}
      {asked === 'new' && (
        <Confirm
          title={t('suppression.new')}
          action={t('suppression.add')}
          onConfirm={add}
          onClose={() => setAsked(null)}
        >
          <p>{t('suppression.text')}</p>
          <p>
            <label>
              {t('suppression.email')}
              <input
                required
                type="text"
                inputMode="email"
                maxLength={254}
                value={email}
                onChange={(event) => setEmail(event.target.value)}
                autoFocus
                autoComplete="off"
                spellCheck={false}
                placeholder="customer@example.org"
              />
            </label>
          </p>
        </Confirm>
      )}
      {asked !== null && asked !== 'new' && (
        <Confirm
          title={t('suppression.remove')}
          action={t('suppression.remove')}
          isDangerous
          success={t('undo.suppression-removed', { email: asked.email })}
          onConfirm={() => remove(asked)}
          onClose={() => setAsked(null)}
        >
          <p>
            <strong>
              <bdi>{asked.email}</bdi>
            </strong>
          </p>
          <p>{t(asked.origin === 'unsubscribe' ? 'suppression.remove-unsubscribed' : 'suppression.remove-harm')}</p>
        </Confirm>
      )}
    </div>
  );
}

/** Returns a function that removes a suppression that was added manually, and offers to undo the removal. */
function useManualRemoval(): (row: Suppression) => void {
  const { api, environment: env } = useSigned();
  const run = useReversible();
  return (row) => {
    const { email } = row;
    run({
      subject: email,
      views: [removal(env, row)],
      send: () => answered(api.DELETE('/v1/suppressions/{id}', { params: { path: { id: row.id } } })),
      done: t('undo.suppression-removed', { email }),
      inverse: {
        subject: email,
        views: [addition(env, row)],
        send: () => answered(api.POST('/v1/suppressions', { body: { email } })),
        done: t('undo.suppressed', { email }),
      },
    });
  };
}

function Filters({ filters }: { filters: SuppressionFilters }): ReactNode {
  const { environment: env } = useSigned();
  const navigate = useNavigate();
  const [email, setEmail] = useState(filters.email ?? '');
  useEffect(() => setEmail(filters.email ?? ''), [filters.email]);
  const set = (changes: { origin?: string; email?: string }): void => {
    const search = Object.fromEntries(
      Object.entries({ ...filters, ...changes }).filter(([, value]) => value !== ''),
    ) as SuppressionFilters;
    void navigate({ to: '/$env/suppressions', params: { env }, search });
  };
  const commit = (): void => {
    if (email.trim() !== (filters.email ?? '')) set({ email: email.trim() });
  };
  return (
    <form
      className="mail-filters"
      role="search"
      aria-label={t('filter')}
      onSubmit={(event) => {
        event.preventDefault();
        commit();
      }}
    >
      <label>
        {t('suppression.origin')}
        <select value={filters.origin ?? ''} onChange={(event) => set({ origin: event.target.value })}>
          <option value="">{t('filter.any')}</option>
          {ORIGINS.map((origin) => (
            <option key={origin} value={origin}>
              {word('origin', origin)}
            </option>
          ))}
        </select>
      </label>
      <label>
        {t('suppression.email')}
        <input
          value={email}
          size={24}
          maxLength={254}
          autoComplete="off"
          spellCheck={false}
          onChange={(event) => setEmail(event.target.value)}
          onBlur={commit}
        />
      </label>
      {Object.keys(filters).length > 0 && (
        <button type="button" onClick={() => void navigate({ to: '/$env/suppressions', params: { env }, search: {} })}>
          {t('filter.clear')}
        </button>
      )}
    </form>
  );
}
