import { useInfiniteQuery, useQueryClient } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import { answered, type Schemas } from '../api/client';
import { sectionReference } from '../api/reference';
import { EmptyState } from '../kit/empty/EmptyState';
import { FaultLine } from '../kit/form/FaultLine';
import { ListSkeleton } from '../kit/load/Skeleton';
import type { MenuItem } from '../kit/menu/RowMenu';
import { t } from '../kit/messages/t';
import { type Column, Table } from '../kit/table/Table';
import { RelativeTime } from '../kit/time/RelativeTime';
import { useSigned } from '../session/session';
import { SecretUse } from './SecretUse';
import { SecretValue } from './SecretValue';

type Secret = Schemas['SecretItem'];

/** Named secrets for use in settings. Their values can be set but never read. */
export function SecretsScreen(): ReactNode {
  const { api, environment, can } = useSigned();
  const queries = useQueryClient();
  const [asked, setAsked] = useState<{ act: 'value' | 'use'; of: Secret } | 'new' | null>(null);
  const { data, error, isPending, hasNextPage, fetchNextPage } = useInfiniteQuery({
    queryKey: ['secrets', environment],
    initialPageParam: undefined as string | undefined,
    queryFn: ({ pageParam: cursor, signal }) =>
      answered(
        api.GET('/v1/secrets', { params: { query: { limit: 100, ...(cursor !== undefined && { cursor }) } }, signal }),
      ),
    getNextPageParam: ({ next_cursor: next }) => next ?? undefined,
  });
  const rows = data?.pages.flatMap((page) => page.data) ?? [];
  const isEmpty = data !== undefined && rows.length === 0;
  const changed = (): Promise<void> => queries.invalidateQueries({ queryKey: ['secrets', environment] });
  const close = (): void => setAsked(null);
  return (
    <div className="page">
      <title>{`${t('nav.secrets')} · Posthorn`}</title>
      <div className="heading">
        <h1>{t('nav.secrets')}</h1>
        {can('write') && !isEmpty && (
          <button type="button" className="primary" onClick={() => setAsked('new')}>
            {t('secrets.new')}
          </button>
        )}
        {!can('write') && <span className="quiet">{t('needs-write')}</span>}
      </div>
      {isPending && <ListSkeleton />}
      <FaultLine fault={error} />
      {isEmpty && (
        <EmptyState
          icon="secrets"
          title={t('secrets.none')}
          action={can('write') ? { label: t('secrets.new'), onSelect: () => setAsked('new') } : undefined}
          docs={{ label: t('docs.api'), href: sectionReference('Secrets') }}
        >
          {t('secrets.none-text')}
        </EmptyState>
      )}
      {rows.length > 0 && <SecretTable rows={rows} onAsk={setAsked} />}
      {hasNextPage && (
        <p>
          <button type="button" onClick={() => void fetchNextPage()}>
            {t('more')}
          </button>
        </p>
      )}
      {asked === 'new' && <SecretValue of={null} onChanged={changed} onClose={close} />}
      {asked !== null && asked !== 'new' && asked.act === 'value' && (
        <SecretValue of={asked.of} onChanged={changed} onClose={close} />
      )}
      {asked !== null && asked !== 'new' && asked.act === 'use' && (
        <SecretUse of={asked.of} onChanged={changed} onClose={close} />
      )}
    </div>
  );
}

function SecretTable({
  rows,
  onAsk,
}: {
  rows: readonly Secret[];
  onAsk: (asked: { act: 'value' | 'use'; of: Secret }) => void;
}): ReactNode {
  const { can } = useSigned();
  const columns: Column<Secret>[] = [
    {
      id: 'name',
      label: t('secrets.name'),
      cell: ({ name }) => name,
      full: ({ name }) => name,
      isFlexible: true,
    },
    { id: 'description', label: t('description'), cell: ({ description }) => description ?? '–', isFlexible: true },
    {
      id: 'use',
      label: t('secrets.use'),
      cell: (of) => <code>{referenceTo(of)}</code>,
      full: referenceTo,
      isFlexible: true,
    },
    { id: 'version', label: t('secrets.version'), cell: ({ version }) => version, isNumeric: true },
    { id: 'changed', label: t('changed'), cell: ({ updated_at: at }) => <RelativeTime at={at} /> },
  ];
  const itemsOf = (of: Secret): MenuItem[] => [
    { label: t('secrets.where'), onSelect: () => onAsk({ act: 'use', of }) },
    ...(can('write') ? [{ label: t('secrets.rotate'), onSelect: () => onAsk({ act: 'value', of }) }] : []),
  ];
  return (
    <Table
      id="secrets"
      label={t('nav.secrets')}
      rows={rows}
      columns={columns}
      keyOf={({ id }) => id}
      actions={{ nameOf: ({ name }) => name, itemsOf }}
    />
  );
}

function referenceTo({ name }: Secret): string {
  return `{{secrets.${name}}}`;
}
