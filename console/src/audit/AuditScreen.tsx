import { useInfiniteQuery } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { type ReactNode, useEffect, useState } from 'react';
import { answered, serviceNowMs } from '../api/client';
import { FaultLine } from '../kit/form/FaultLine';
import { t } from '../kit/messages/t';
import { useSigned } from '../session/session';
import { asAuditQuery, AUDIT_RANGES, type AuditFilters } from './audit-filters';
import { AuditTable } from './AuditTable';
import { Export } from './Export';

const TEXTS = [
  ['actor', 'audit.filter-actor'],
  ['action', 'audit.filter-action'],
  ['resource', 'audit.filter-resource'],
] as const;

/** The audit log: actor, action, time and changes. */
export function AuditScreen(): ReactNode {
  const filters = useSearch({ from: '/$env/audit' });
  const { api, environment, can } = useSigned();
  const { data, error, isPending, hasNextPage, fetchNextPage, refetch } = useInfiniteQuery({
    queryKey: ['audit', environment, filters],
    initialPageParam: null as { cursor: string; query: AuditFilters } | null,
    enabled: can('admin'),
    queryFn: async ({ pageParam, signal }) => {
      // Relative times are resolved only for the first page, because a cursor is valid only for the filters of that
      // page.
      const query = pageParam?.query ?? asAuditQuery(filters, serviceNowMs());
      const page = await answered(
        api.GET('/v1/audit', {
          params: { query: { ...query, limit: 50, ...(pageParam && { cursor: pageParam.cursor }) } },
          signal,
        }),
      );
      return { rows: page.data, next: page.next_cursor === null ? null : { cursor: page.next_cursor, query } };
    },
    getNextPageParam: ({ next }) => next,
  });
  const rows = data?.pages.flatMap((page) => page.rows) ?? [];
  return (
    <div className="page wide">
      <title>{`${t('nav.audit')} · Posthorn`}</title>
      <div className="heading">
        <h1>{t('nav.audit')}</h1>
        {can('admin') && (
          <>
            <button type="button" onClick={() => void refetch()}>
              {t('reload')}
            </button>
            <Export filters={filters} />
          </>
        )}
      </div>
      {!can('admin') && <p>{t('for-admins')}</p>}
      {can('admin') && <Filters of={filters} />}
      {can('admin') && isPending && <p role="status">{t('loading')}</p>}
      <FaultLine fault={error} />
      {data && rows.length === 0 && (
        <p className="empty" role="status">
          {t('audit.none')}
        </p>
      )}
      {rows.length > 0 && <AuditTable rows={rows} />}
      {hasNextPage && (
        <p>
          <button type="button" onClick={() => void fetchNextPage()}>
            {t('more')}
          </button>
        </p>
      )}
    </div>
  );
}

function Filters({ of: filters }: { of: AuditFilters }): ReactNode {
  const { environment: env } = useSigned();
  const navigate = useNavigate();
  const set = (changes: Record<string, string>): void => {
    const search = Object.fromEntries(
      Object.entries({ ...filters, ...changes }).filter(([, value]) => value !== ''),
    ) as AuditFilters;
    void navigate({ to: '/$env/audit', params: { env }, search });
  };
  const { since = '' } = filters;
  return (
    <form className="filter-bar" role="search" aria-label={t('filter')} onSubmit={(event) => event.preventDefault()}>
      {TEXTS.map(([name, label]) => (
        <TextFilter
          key={name}
          label={t(label)}
          value={filters[name] ?? ''}
          onChange={(value) => set({ [name]: value })}
        />
      ))}
      <label>
        {t('filter.range')}
        <select value={since} onChange={(event) => set({ since: event.target.value })}>
          <option value="">{t('filter.all-time')}</option>
          {AUDIT_RANGES.map((range) => (
            <option key={range} value={range}>
              {t(`range.${range}`)}
            </option>
          ))}
          {since !== '' && !AUDIT_RANGES.some((range) => range === since) && <option value={since}>{since}</option>}
        </select>
      </label>
      {Object.keys(filters).length > 0 && (
        <button type="button" onClick={() => void navigate({ to: '/$env/audit', params: { env }, search: {} })}>
          {t('filter.clear')}
        </button>
      )}
    </form>
  );
}

/** Text filter that applies on Enter or when it loses the focus. */
function TextFilter({
  label,
  value,
  onChange,
}: {
  label: string;
  value: string;
  onChange: (value: string) => void;
}): ReactNode {
  const [text, setText] = useState(value);
  useEffect(() => setText(value), [value]);
  const commit = (): void => {
    if (text.trim() !== value) onChange(text.trim());
  };
  return (
    <label>
      {label}
      <input
        value={text}
        size={20}
        autoComplete="off"
        spellCheck={false}
        maxLength={256}
        onChange={(event) => setText(event.target.value)}
        onBlur={commit}
        onKeyDown={(event) => {
          if (event.key === 'Enter') commit();
        }}
      />
    </label>
  );
}
