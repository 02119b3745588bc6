import { useInfiniteQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { answered, type Schemas, serviceNowMs } from '../api/client';
import { sectionReference } from '../api/reference';
import { copyText } from '../kit/copy';
import { EmptyState } from '../kit/empty/EmptyState';
import { FaultLine } from '../kit/form/FaultLine';
import { ListSkeleton } from '../kit/load/Skeleton';
import { t } from '../kit/messages/t';
import { PathLink } from '../kit/PathLink';
import { Status } from '../kit/status/Status';
import { type Column, Table } from '../kit/table/Table';
import { RelativeTime } from '../kit/time/RelativeTime';
import { useNow } from '../kit/time/use-now';
import { toast } from '../kit/toast/toasts';
import { useSigned } from '../session/session';
import { pullHealthOf } from './pull-health';

type Position = Schemas['PullPositionItem'];

const PAGE = 50;
const REFRESH_MS = 10_000;

/** Consumers of pull destinations, with their positions. */
export function PullScreen(): ReactNode {
  const { api, environment } = useSigned();
  const navigate = useNavigate();
  const { data, error, isPending, hasNextPage, fetchNextPage } = useInfiniteQuery({
    queryKey: ['pull-positions', environment],
    initialPageParam: undefined as string | undefined,
    queryFn: ({ pageParam: cursor, signal }) =>
      answered(
        api.GET('/v1/pull', { params: { query: { limit: PAGE, ...(cursor !== undefined && { cursor }) } }, signal }),
      ),
    getNextPageParam: ({ next_cursor: next }) => next ?? undefined,
    refetchInterval: ({ state }) => (state.data?.pages.length === 1 ? REFRESH_MS : false),
  });
  const rows = data?.pages.flatMap((page) => page.data) ?? [];
  return (
    <div className="page">
      <title>{`${t('nav.pull')} · Posthorn`}</title>
      <div className="heading">
        <h1>{t('nav.pull')}</h1>
      </div>
      <p className="quiet">{t('pull.text')}</p>
      {isPending && <ListSkeleton />}
      <FaultLine fault={error} />
      {data && rows.length === 0 && (
        <EmptyState
          icon="pull"
          title={t('pull.none')}
          action={{
            label: t('pull.open-destinations'),
            onSelect: () => void navigate({ to: '/$env/destinations', params: { env: environment }, search: {} }),
          }}
          docs={{ label: t('docs.api'), href: sectionReference('Pull') }}
        >
          {t('pull.none-text')}
        </EmptyState>
      )}
      {rows.length > 0 && <PositionTable rows={rows} />}
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

function PositionTable({ rows }: { rows: readonly Position[] }): ReactNode {
  const { environment: env } = useSigned();
  const columns: Column<Position>[] = [
    {
      id: 'destination',
      label: t('pull.destination'),
      cell: ({ destination, name }) => (
        <PathLink to={`/${env}/destinations/${destination}`}>
          <bdi>{name}</bdi>
        </PathLink>
      ),
      full: ({ name }) => name,
      isFlexible: true,
    },
    { id: 'status', label: t('column.status'), cell: ({ status }) => <Status of={status} /> },
    {
      id: 'source',
      label: t('pull.consumer'),
      cell: ({ endpoint }) =>
        endpoint === null ? t('pull.everything') : <PathLink to={`/${env}/endpoints/${endpoint}`}>{endpoint}</PathLink>,
      full: ({ endpoint }) => endpoint ?? t('pull.everything'),
      isFlexible: true,
    },
    {
      id: 'health',
      label: t('pull.health'),
      cell: ({ backlog, committed_through: through }) => <Health backlog={backlog} through={through} />,
    },
    {
      id: 'backlog',
      label: t('pull.backlog'),
      cell: ({ backlog: { count, is_capped: isCapped } }) => t(isCapped ? 'pull.at-least' : 'pull.count', { count }),
      isNumeric: true,
    },
    {
      id: 'oldest',
      label: t('pull.oldest'),
      cell: ({ backlog: { oldest_event: event, oldest_at: at } }) =>
        event === null || at === null ? (
          '–'
        ) : (
          <PathLink to={`/${env}/events/${event}`}>
            <RelativeTime at={at} />
          </PathLink>
        ),
    },
    {
      id: 'position',
      label: t('pull.position'),
      cell: ({ committed_through: through }) =>
        through === null ? t('pull.nothing-yet') : <PathLink to={`/${env}/events/${through}`}>{through}</PathLink>,
      full: ({ committed_through: through }) => through ?? t('pull.nothing-yet'),
      isFlexible: true,
    },
    {
      id: 'moved',
      label: t('pull.moved'),
      cell: ({ committed_at: at }) => (at === null ? '–' : <RelativeTime at={at} />),
    },
  ];
  return (
    <Table
      id="pull"
      label={t('nav.pull')}
      rows={rows}
      columns={columns}
      keyOf={({ destination, endpoint }) => `${destination} ${endpoint ?? ''}`}
      actions={{
        nameOf: ({ name, endpoint }) => `${name} ${endpoint ?? ''}`.trim(),
        itemsOf: (of) => [{ label: t('pull.copy'), onSelect: () => void copyPath(of) }],
      }}
    />
  );
}

/** Copies the path from which a consumer pulls. */
async function copyPath({ destination, endpoint }: Position): Promise<void> {
  const isCopied = await copyText(`/v1/pull/${endpoint ?? destination}`);
  toast(t(isCopied ? 'copied' : 'copy.failed'), isCopied ? {} : { tone: 'bad' });
}

const SIGNS = { good: '✓', busy: '↻', bad: '!', dull: '–' } as const;

/** Whether a consumer keeps up. The columns beside it show the number of pending events and the oldest of them. */
function Health({ backlog, through }: { backlog: Position['backlog']; through: string | null }): ReactNode {
  const nowMs = useNow(serviceNowMs, REFRESH_MS);
  const { sentence, tone } = pullHealthOf({ backlog, committed_through: through }, nowMs);
  return (
    <span className={`status ${tone}`}>
      <span aria-hidden="true">{SIGNS[tone]}</span> {t(`pull.${sentence}`)}
    </span>
  );
}
