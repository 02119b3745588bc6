import { useSearch } from '@tanstack/react-router';
import { type ReactNode, useMemo } from 'react';
import { FaultLine } from '../kit/form/FaultLine';
import { ListSkeleton } from '../kit/load/Skeleton';
import { t } from '../kit/messages/t';
import { useSigned } from '../session/session';
import type { AuditFilters } from './audit-filters';
import { useAudit, useNames } from './audit-queries';
import { AuditTable } from './AuditTable';
import { Export } from './Export';
import { Filters } from './Filters';

/** The audit log: who did what to which resource, and when. */
export function AuditScreen(): ReactNode {
  const filters = useSearch({ from: '/$env/audit' });
  const { can } = useSigned();
  return (
    <div className="page">
      <title>{`${t('nav.audit')} · Posthorn`}</title>
      {can('admin') ? (
        <Log filters={filters} />
      ) : (
        <>
          <div className="heading">
            <h1>{t('nav.audit')}</h1>
          </div>
          <p>{t('for-admins')}</p>
        </>
      )}
    </div>
  );
}

function Log({ filters }: { filters: AuditFilters }): ReactNode {
  const { data, error, isPending, isLoadingError, hasNextPage, fetchNextPage, refetch } = useAudit(filters);
  const rows = useMemo(() => data?.pages.flatMap((page) => page.rows) ?? [], [data]);
  const { names, members, keys, fault } = useNames(rows);
  return (
    <>
      <div className="heading">
        <h1>{t('nav.audit')}</h1>
        <button type="button" onClick={() => void refetch()}>
          {t('reload')}
        </button>
        <Export filters={filters} isOff={isLoadingError} />
      </div>
      <Filters of={filters} names={names} members={members} keys={keys} fault={fault} />
      {isPending && <ListSkeleton />}
      <FaultLine fault={error} />
      {data && rows.length === 0 && (
        <p className="empty" role="status">
          {t('audit.none')}
        </p>
      )}
      {rows.length > 0 && <AuditTable rows={rows} names={names} />}
      {hasNextPage && (
        <p>
          <button type="button" onClick={() => void fetchNextPage()}>
            {t('more')}
          </button>
        </p>
      )}
    </>
  );
}
