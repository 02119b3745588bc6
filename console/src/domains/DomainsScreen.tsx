import './domains.css';
import { Link } from '@tanstack/react-router';
import { type ReactNode, useState } from 'react';
import type { Schemas } from '../api/client';
import { sectionReference } from '../api/reference';
import { CopyButton } from '../kit/CopyButton';
import { EmptyState } from '../kit/empty/EmptyState';
import { FaultLines } from '../kit/form/FaultLine';
import { Skeleton } from '../kit/load/Skeleton';
import { t, word } from '../kit/messages/t';
import { Status } from '../kit/status/Status';
import { type Column, Table } from '../kit/table/Table';
import { RelativeTime } from '../kit/time/RelativeTime';
import { useSigned } from '../session/session';
import { type Domain, useDomains, useIngestHosts } from './domain-queries';
import { NewDomain } from './NewDomain';

/** The organization's domains, and the hosts of its endpoints. */
export function DomainsScreen(): ReactNode {
  const { can } = useSigned();
  const { data, error, isPending, hasNextPage, fetchNextPage } = useDomains();
  const hosts = useIngestHosts();
  const [isCreating, setCreating] = useState(false);
  const rows = data?.pages.flatMap((page) => page.data) ?? [];
  // Waits for both lists, because the first one would move the second one.
  const isWaiting = isPending || hosts.isPending;
  const isEmpty = !isWaiting && data !== undefined && rows.length === 0;
  return (
    <div className="page">
      <title>{`${t('nav.domains')} · Posthorn`}</title>
      <div className="heading">
        <h1>{t('nav.domains')}</h1>
        {can('admin') && !isEmpty && (
          <button type="button" className="primary" onClick={() => setCreating(true)}>
            {t('domain.new')}
          </button>
        )}
        {!can('admin') && <span className="quiet">{t('domain.needs-admin')}</span>}
      </div>
      {isWaiting && <Skeleton parts={[['rows', 2], 'heading', 'text', ['rows', 1]]} />}
      <FaultLines
        parts={[
          { name: t('nav.domains'), fault: error },
          { name: t('ingest'), fault: hosts.error },
        ]}
      />
      {isEmpty && (
        <EmptyState
          icon="domains"
          title={t('domain.none')}
          action={can('admin') ? { label: t('domain.new'), onSelect: () => setCreating(true) } : undefined}
          docs={{ label: t('docs.api'), href: sectionReference('Domains') }}
        >
          {t('domain.none-text')}
        </EmptyState>
      )}
      {rows.length > 0 && !isWaiting && <DomainTable rows={rows} />}
      {hasNextPage && (
        <p>
          <button type="button" onClick={() => void fetchNextPage()}>
            {t('more')}
          </button>
        </p>
      )}
      {hosts.data && !isWaiting && <IngestHosts hosts={hosts.data.data} />}
      {isCreating && <NewDomain onClose={() => setCreating(false)} />}
    </div>
  );
}

function DomainTable({ rows }: { rows: readonly Domain[] }): ReactNode {
  const { environment: env } = useSigned();
  const columns: Column<Domain>[] = [
    {
      id: 'name',
      label: t('domain.name'),
      cell: ({ id, domain }) => (
        <Link to="/$env/domains/$id" params={{ env, id }}>
          <bdi>{domain}</bdi>
        </Link>
      ),
      full: ({ domain }) => domain,
      isFlexible: true,
    },
    {
      id: 'status',
      label: t('column.status'),
      cell: ({ state, reputation }) => (
        <>
          <Status of={state} /> {reputation !== 'healthy' && <Status of={reputation} />}
        </>
      ),
    },
    { id: 'kind', label: t('domain.kind'), cell: ({ kind }) => word('kind', kind) },
    { id: 'records', label: t('domain.records'), cell: seenRecords, isNumeric: true },
    { id: 'checked', label: t('domain.checked'), cell: ({ updated_at: at }) => <RelativeTime at={at} /> },
  ];
  return <Table id="domains" label={t('nav.domains')} rows={rows} columns={columns} keyOf={({ id }) => id} />;
}

function seenRecords({ records }: Domain): string {
  const required = records.filter((record) => record.required);
  return t('domain.seen', {
    seen: required.filter(({ status }) => status === 'verified').length,
    count: required.length,
  });
}

function IngestHosts({ hosts }: { hosts: readonly Schemas['IngestDomainDetail'][] }): ReactNode {
  return (
    <section>
      <h2>{t('ingest')}</h2>
      <p className="quiet">{t('ingest.text')}</p>
      <Table id="ingest-hosts" label={t('ingest')} rows={hosts} columns={ingestColumns()} keyOf={({ id }) => id} />
    </section>
  );
}

function ingestColumns(): Column<Schemas['IngestDomainDetail']>[] {
  return [
    {
      id: 'host',
      label: t('ingest.host'),
      cell: ({ host, default: isDefault }) => (
        <>
          <bdi>{host}</bdi>
          {isDefault && <span className="tag">{t('ingest.default')}</span>}
        </>
      ),
      full: ({ host }) => host,
      isFlexible: true,
    },
    {
      id: 'kind',
      label: t('domain.kind'),
      cell: ({ kind }) => t(kind === 'platform' ? 'ingest.platform' : 'ingest.custom'),
    },
    {
      id: 'prefix',
      label: t('ingest.prefix'),
      cell: ({ prefix }) => (
        <span className="copied-cell">
          <code>{prefix}</code>
          <CopyButton text={prefix} name={`${t('copy')}: ${prefix}`} />
        </span>
      ),
      full: ({ prefix }) => prefix,
      isFlexible: true,
    },
  ];
}
