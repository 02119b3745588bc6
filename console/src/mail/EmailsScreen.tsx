import './mail.css';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { type ReactNode, useState } from 'react';
import { sectionReference } from '../api/reference';
import { EmptyState } from '../kit/empty/EmptyState';
import { FaultLine } from '../kit/form/FaultLine';
import { ListSkeleton } from '../kit/load/Skeleton';
import { t, word } from '../kit/messages/t';
import { TextFilter } from '../kit/TextFilter';
import { RANGES } from '../kit/time/range';
import { useSigned } from '../session/session';
import { EmailList } from './EmailList';
import { EMAIL_STATUSES, type EmailFilters } from './mail-filters';
import { useEmails } from './mail-queries';
import { Simulator } from './Simulator';

/** List of sent and scheduled emails. */
export function EmailsScreen(): ReactNode {
  const { can } = useSigned();
  const filters = useSearch({ from: '/$env/emails' });
  const { rows, data, error, isPending, hasNextPage, fetchNextPage } = useEmails(filters);
  const [isTrying, setTrying] = useState(false);
  const isFiltered = Object.keys(filters).length > 0;
  const isEmpty = data !== undefined && rows.length === 0 && !isFiltered && !hasNextPage;
  return (
    <div className="page">
      <title>{`${t('nav.emails')} · Posthorn`}</title>
      <div className="heading">
        <h1>{t('nav.emails')}</h1>
        {can('write') && !isEmpty && (
          <button type="button" className="primary" onClick={() => setTrying(true)}>
            {t('simulator.open')}
          </button>
        )}
        {!can('write') && <span className="quiet">{t('needs-write')}</span>}
      </div>
      {!isEmpty && <Filters filters={filters} />}
      {isPending && <ListSkeleton />}
      <FaultLine fault={error} />
      {data && rows.length === 0 && !isEmpty && (
        <p className="empty" role="status">
          {t(hasNextPage ? 'emails.none-yet' : 'emails.none-match')}
        </p>
      )}
      {isEmpty && (
        <EmptyState
          icon="emails"
          title={t('emails.none')}
          action={can('write') ? { label: t('simulator.open'), onSelect: () => setTrying(true) } : undefined}
          docs={{ label: t('docs.api'), href: sectionReference('Emails') }}
        >
          {t('emails.none-text')}
        </EmptyState>
      )}
      {rows.length > 0 && <EmailList rows={rows} />}
      {hasNextPage && (
        <p>
          <button type="button" onClick={() => void fetchNextPage()}>
            {t('more')}
          </button>
        </p>
      )}
      {isTrying && <Simulator onClose={() => setTrying(false)} />}
    </div>
  );
}

function Filters({ filters }: { filters: EmailFilters }): ReactNode {
  const { environment: env } = useSigned();
  const navigate = useNavigate();
  const set = (changes: Partial<Record<keyof EmailFilters, string | undefined>>): void => {
    const search = Object.fromEntries(
      Object.entries({ ...filters, ...changes }).filter(([, value]) => value !== undefined && value !== ''),
    ) as EmailFilters;
    void navigate({ to: '/$env/emails', params: { env }, search });
  };
  const isOtherRange =
    filters.until !== undefined || (filters.since !== undefined && !RANGES.some((range) => range === filters.since));
  return (
    <form className="mail-filters" role="search" aria-label={t('filter')} onSubmit={(event) => event.preventDefault()}>
      <label>
        {t('filter.status')}
        <select value={filters.status ?? ''} onChange={(event) => set({ status: event.target.value })}>
          <option value="">{t('filter.any')}</option>
          {EMAIL_STATUSES.map((status) => (
            <option key={status} value={status}>
              {word('status', status)}
            </option>
          ))}
        </select>
      </label>
      <label>
        {t('filter.range')}
        <select
          value={isOtherRange ? 'other' : (filters.since ?? '')}
          onChange={(event) => set({ since: event.target.value, until: undefined })}
        >
          <option value="">{t('filter.all-time')}</option>
          {RANGES.map((range) => (
            <option key={range} value={range}>
              {t(`range.${range}`)}
            </option>
          ))}
          {isOtherRange && <option value="other">{[filters.since, filters.until].filter(Boolean).join(' – ')}</option>}
        </select>
      </label>
      <TextFilter
        label={t('emails.recipient')}
        value={filters.recipient ?? ''}
        onChange={(recipient) => set({ recipient })}
      />
      <TextFilter
        label={t('emails.tag')}
        value={filters.tag ?? ''}
        onChange={(tag) => set({ tag })}
        placeholder={t('emails.tag-hint')}
      />
      {Object.keys(filters).length > 0 && (
        <button type="button" onClick={() => void navigate({ to: '/$env/emails', params: { env }, search: {} })}>
          {t('filter.clear')}
        </button>
      )}
    </form>
  );
}
