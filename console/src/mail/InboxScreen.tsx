import './mail.css';
import { Link } from '@tanstack/react-router';
import { type ReactNode, useState } from 'react';
import { sectionReference } from '../api/reference';
import { CopyButton } from '../kit/CopyButton';
import { EmptyState } from '../kit/empty/EmptyState';
import { FaultLine } from '../kit/form/FaultLine';
import { ListSkeleton } from '../kit/load/Skeleton';
import { t } from '../kit/messages/t';
import { type Column, Table } from '../kit/table/Table';
import { RelativeTime } from '../kit/time/RelativeTime';
import { Names } from '../session/ResourceName';
import { useSigned } from '../session/session';
import { AliasForm } from './AliasForm';
import { type Alias, useAliases } from './mail-queries';

/** List of aliases, the addresses that receive mail. */
export function InboxScreen(): ReactNode {
  const { can } = useSigned();
  const { rows, data, error, isPending, hasNextPage, fetchNextPage } = useAliases();
  const [isCreating, setCreating] = useState(false);
  const isEmpty = data !== undefined && rows.length === 0;
  return (
    <div className="page">
      <title>{`${t('nav.inbox')} · Posthorn`}</title>
      <div className="heading">
        <h1>{t('nav.inbox')}</h1>
        {can('write') && !isEmpty && (
          <button type="button" className="primary" onClick={() => setCreating(true)}>
            {t('alias.new')}
          </button>
        )}
        {!can('write') && <span className="quiet">{t('needs-write')}</span>}
      </div>
      {isPending && <ListSkeleton />}
      <FaultLine fault={error} />
      {isEmpty && (
        <EmptyState
          icon="inbox"
          title={t('alias.none')}
          action={can('write') ? { label: t('alias.new'), onSelect: () => setCreating(true) } : undefined}
          docs={{ label: t('docs.api'), href: sectionReference('Aliases') }}
        >
          {t('alias.none-text')}
        </EmptyState>
      )}
      {rows.length > 0 && <AliasTable rows={rows} />}
      {hasNextPage && (
        <p>
          <button type="button" onClick={() => void fetchNextPage()}>
            {t('more')}
          </button>
        </p>
      )}
      {isCreating && <AliasForm alias={null} onClose={() => setCreating(false)} />}
    </div>
  );
}

function AliasTable({ rows }: { rows: readonly Alias[] }): ReactNode {
  const { environment: env } = useSigned();
  const columns: Column<Alias>[] = [
    {
      id: 'address',
      label: t('alias.address'),
      cell: ({ id, address }) => (
        <span className="copied-cell">
          <Link to="/$env/inbox/$alias" params={{ env, alias: id }}>
            {address}
          </Link>
          <CopyButton text={address} name={`${t('copy')}: ${address}`} />
        </span>
      ),
      full: ({ address }) => address,
      isFlexible: true,
      weight: 2,
    },
    {
      id: 'destinations',
      label: t('alias.goes-to'),
      cell: ({ destinationIds: ids }) => (ids.length === 0 ? t('alias.kept') : <Names ids={ids} />),
      isFlexible: true,
    },
    {
      id: 'senders',
      label: t('alias.senders'),
      cell: ({ allowedSenders: senders }) => senders.join(', ') || t('alias.everybody'),
      isFlexible: true,
    },
    { id: 'created', label: t('created'), cell: ({ createdAt: at }) => <RelativeTime at={at} /> },
  ];
  return <Table id="aliases" label={t('nav.inbox')} rows={rows} columns={columns} keyOf={({ id }) => id} />;
}
