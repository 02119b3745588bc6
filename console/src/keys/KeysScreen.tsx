import { useInfiniteQuery, useQueryClient } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import { answered, type Schemas, serviceNowMs } from '../api/client';
import { sectionReference } from '../api/reference';
import { CopyButton } from '../kit/CopyButton';
import { Confirm } from '../kit/dialog/Confirm';
import { Dialog } from '../kit/dialog/Dialog';
import { EmptyState } from '../kit/empty/EmptyState';
import { FaultLine } from '../kit/form/FaultLine';
import { ListSkeleton } from '../kit/load/Skeleton';
import type { MenuItem } from '../kit/menu/RowMenu';
import { t, word } from '../kit/messages/t';
import { Status } from '../kit/status/Status';
import { type Column, Table } from '../kit/table/Table';
import { RelativeTime } from '../kit/time/RelativeTime';
import { useSigned } from '../session/session';
import { keyState } from './key-state';
import { NewKey } from './NewKey';

type Key = Schemas['KeyItem'];
const GRACES = [
  [0, 'grace.now'],
  [3_600, 'grace.hour'],
  [86_400, 'grace.day'],
  [604_800, 'grace.week'],
] as const;

/** List of API keys. The user can create and rotate keys. A new key is shown only once. */
export function KeysScreen(): ReactNode {
  const { api, environment, can } = useSigned();
  const queries = useQueryClient();
  const [asked, setAsked] = useState<{ act: 'revoke' | 'rotate'; key: Key } | 'new' | null>(null);
  const [issued, setIssued] = useState<string | null>(null);
  const [grace, setGrace] = useState(86_400);
  const { data, error, isPending, hasNextPage, fetchNextPage } = useInfiniteQuery({
    queryKey: ['keys', environment],
    initialPageParam: undefined as string | undefined,
    enabled: can('admin'),
    queryFn: ({ pageParam: cursor, signal }) =>
      answered(
        api.GET('/v1/keys', { params: { query: { limit: 100, ...(cursor !== undefined && { cursor }) } }, signal }),
      ),
    getNextPageParam: ({ next_cursor: next }) => next ?? undefined,
  });
  const refresh = (): Promise<void> => queries.invalidateQueries({ queryKey: ['keys', environment] });
  const act = async (): Promise<void> => {
    if (asked === null || asked === 'new') return;
    const params = { path: { id: asked.key.id } };
    if (asked.act === 'revoke') await answered(api.DELETE('/v1/keys/{id}', { params }));
    else setIssued((await answered(api.POST('/v1/keys/{id}/rotate', { params, body: { grace_seconds: grace } }))).key);
    await refresh();
  };
  const close = (): void => setAsked(null);
  const rows = data?.pages.flatMap((page) => page.data) ?? [];
  const isEmpty = data !== undefined && rows.length === 0;
  return (
    <div className="page">
      <title>{`${t('nav.keys')} · Posthorn`}</title>
      <div className="heading">
        <h1>{t('nav.keys')}</h1>
        {can('admin') && !isEmpty && (
          <button type="button" className="primary" onClick={() => setAsked('new')}>
            {t('key.new')}
          </button>
        )}
      </div>
      {!can('admin') && <p>{t('needs-admin')}</p>}
      {can('admin') && isPending && <ListSkeleton />}
      <FaultLine fault={error} />
      {isEmpty && (
        <EmptyState
          icon="keys"
          title={t('keys.none')}
          action={{ label: t('key.new'), onSelect: () => setAsked('new') }}
          docs={{ label: t('docs.api'), href: sectionReference('Keys') }}
        >
          {t('keys.none-text')}
        </EmptyState>
      )}
      {rows.length > 0 && <KeyTable rows={rows} onAsk={setAsked} />}
      {hasNextPage && (
        <p>
          <button type="button" onClick={() => void fetchNextPage()}>
            {t('more')}
          </button>
        </p>
      )}
      {asked === 'new' && (
        <NewKey
          onIssued={(key) => {
            setIssued(key);
            void refresh();
          }}
          onClose={close}
        />
      )}
      {asked !== null && asked !== 'new' && (
        <Confirm
          title={t(asked.act === 'revoke' ? 'key.revoke' : 'key.rotate')}
          action={t(asked.act === 'revoke' ? 'key.revoke' : 'key.rotate')}
          isDangerous={asked.act === 'revoke'}
          onConfirm={act}
          onClose={close}
          {...(asked.act === 'revoke' && { typed: asked.key.name, success: t('key.revoked') })}
        >
          <p>
            <strong>{asked.key.name}</strong> <code>{asked.key.prefix}…</code>
          </p>
          <p>{t(asked.act === 'revoke' ? 'key.revoke-text' : 'key.rotate-text')}</p>
          {asked.act === 'rotate' && (
            <label>
              {t('grace')}
              <select value={grace} onChange={(event) => setGrace(Number(event.target.value))}>
                {GRACES.map(([seconds, label]) => (
                  <option key={seconds} value={seconds}>
                    {t(label)}
                  </option>
                ))}
              </select>
            </label>
          )}
        </Confirm>
      )}
      {issued !== null && asked === null && (
        <Dialog title={t('key.issued')} onClose={() => setIssued(null)}>
          <p>{t('key.once')}</p>
          <p>
            <code className="secret">{issued}</code>
          </p>
          <p className="actions">
            <CopyButton text={issued} label={t('copy')} />
            <button type="button" onClick={() => setIssued(null)}>
              {t('close')}
            </button>
          </p>
        </Dialog>
      )}
    </div>
  );
}

function KeyTable({
  rows,
  onAsk,
}: {
  rows: readonly Key[];
  onAsk: (asked: { act: 'revoke' | 'rotate'; key: Key }) => void;
}): ReactNode {
  const nowMs = serviceNowMs();
  const itemsOf = (key: Key): MenuItem[] =>
    keyState(key, nowMs) === 'active'
      ? [
          { label: t('key.rotate'), onSelect: () => onAsk({ act: 'rotate', key }) },
          { label: t('key.revoke'), onSelect: () => onAsk({ act: 'revoke', key }) },
        ]
      : [];
  const columns: Column<Key>[] = [
    { id: 'name', label: t('key.name'), cell: ({ name }) => name, isFlexible: true },
    { id: 'status', label: t('column.status'), cell: (key) => <Status of={keyState(key, nowMs)} /> },
    { id: 'scope', label: t('key.scope'), cell: ({ scope }) => word('scope', scope) },
    { id: 'prefix', label: t('key.prefix'), cell: ({ prefix }) => <code>{prefix}…</code> },
    {
      id: 'source',
      label: t('key.source'),
      cell: (key) => key.client_name ?? word('source', key.source),
      isFlexible: true,
    },
    {
      id: 'used',
      label: t('key.used'),
      cell: ({ last_used_at: at }) => (at === null ? '–' : <RelativeTime at={at} />),
    },
    {
      id: 'expires',
      label: t('key.expires'),
      cell: ({ expires_at: at }) => (at === null ? '–' : <RelativeTime at={at} />),
    },
  ];
  return (
    <Table
      id="keys"
      label={t('nav.keys')}
      rows={rows}
      columns={columns}
      keyOf={({ id }) => id}
      actions={{ nameOf: ({ name }) => name, itemsOf }}
    />
  );
}
