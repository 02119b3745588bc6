import { useInfiniteQuery, useQueryClient } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import { answered, type Schemas } from '../api/client';
import { Confirm } from '../kit/dialog/Confirm';
import { FaultLine } from '../kit/form/FaultLine';
import { ListSkeleton } from '../kit/load/Skeleton';
import { t } from '../kit/messages/t';
import { type Column, Table } from '../kit/table/Table';
import { RelativeTime } from '../kit/time/RelativeTime';
import { ResourceName } from '../session/ResourceName';
import { useSigned } from '../session/session';
import { parseUserAgent } from './browser-name';

type Session = Schemas['SessionItem'];

/** List of signed-in browsers. The user can sign out each of them. */
export function SessionsScreen(): ReactNode {
  const { api, can, session: own } = useSigned();
  const queries = useQueryClient();
  const [ending, setEnding] = useState<Session | null>(null);
  const { data, error, isPending, hasNextPage, fetchNextPage } = useInfiniteQuery({
    queryKey: ['sessions'],
    initialPageParam: undefined as string | undefined,
    enabled: can('admin'),
    queryFn: ({ pageParam: cursor, signal }) =>
      answered(
        api.GET('/v1/sessions', { params: { query: { limit: 100, ...(cursor !== undefined && { cursor }) } }, signal }),
      ),
    getNextPageParam: ({ next_cursor: next }) => next ?? undefined,
  });
  const end = async (): Promise<void> => {
    if (ending !== null) await answered(api.DELETE('/v1/sessions/{id}', { params: { path: { id: ending.id } } }));
    await queries.invalidateQueries({ queryKey: ['sessions'] });
  };
  const rows = data?.pages.flatMap((page) => page.data) ?? [];
  return (
    <div className="page">
      <title>{`${t('nav.sessions')} · Posthorn`}</title>
      <div className="heading">
        <h1>{t('nav.sessions')}</h1>
      </div>
      <p className="quiet">{t(can('admin') ? 'sessions.text' : 'for-admins')}</p>
      {can('admin') && isPending && <ListSkeleton />}
      <FaultLine fault={error} />
      {rows.length > 0 && <SessionTable rows={rows} ownId={own.id} onEnd={setEnding} />}
      {hasNextPage && (
        <p>
          <button type="button" onClick={() => void fetchNextPage()}>
            {t('more')}
          </button>
        </p>
      )}
      {ending && (
        <Confirm
          title={t('sessions.end')}
          action={t('sessions.end')}
          isDangerous
          success={t('sessions.ended')}
          onConfirm={end}
          onClose={() => setEnding(null)}
        >
          <p>{t('sessions.end-text', { name: nameOf(ending) })}</p>
        </Confirm>
      )}
    </div>
  );
}

function SessionTable({
  rows,
  ownId,
  onEnd,
}: {
  rows: readonly Session[];
  ownId: string;
  onEnd: (of: Session) => void;
}): ReactNode {
  const columns: Column<Session>[] = [
    {
      id: 'who',
      label: t('sessions.who'),
      cell: (of) => (
        <>
          {of.key === null ? <bdi>{of.email}</bdi> : <ResourceName id={of.key} />}
          {of.id === ownId && <span className="tag">{t('sessions.this')}</span>}
        </>
      ),
      full: nameOf,
      isFlexible: true,
    },
    { id: 'how', label: t('sessions.how'), cell: ({ how }) => t(`sessions.how.${how}`) },
    { id: 'network', label: t('sessions.network'), cell: ({ network }) => network },
    {
      id: 'browser',
      label: t('sessions.browser'),
      cell: ({ user_agent: agent }) => (agent === null ? '–' : <span title={agent}>{browserName(agent)}</span>),
      full: ({ user_agent: agent }) => agent ?? '–',
      isFlexible: true,
    },
    { id: 'begun', label: t('sessions.begun'), cell: ({ created_at: at }) => <RelativeTime at={at} /> },
    { id: 'seen', label: t('sessions.seen'), cell: ({ last_seen_at: at }) => <RelativeTime at={at} /> },
    { id: 'expires', label: t('sessions.expires'), cell: ({ expires_at: at }) => <RelativeTime at={at} /> },
  ];
  return (
    <Table
      id="sessions"
      label={t('nav.sessions')}
      rows={rows}
      columns={columns}
      keyOf={({ id }) => id}
      actions={{
        nameOf: (of) => `${nameOf(of)} ${of.network}`,
        itemsOf: (of) => [{ label: t('sessions.end'), onSelect: () => onEnd(of) }],
      }}
    />
  );
}

function browserName(agent: string): string {
  const found = parseUserAgent(agent);
  return found === null ? agent : t('sessions.browser-on', found);
}

const nameOf = ({ email, key, id }: Session): string => email ?? key ?? id;
