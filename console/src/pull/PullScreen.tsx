import { useInfiniteQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { answered, type Schemas, serviceNowMs } from '../api/client';
import { CopyButton } from '../kit/CopyButton';
import { FaultLine } from '../kit/form/FaultLine';
import { t } from '../kit/messages/t';
import { PathLink } from '../kit/PathLink';
import { usePreferences } from '../kit/preferences';
import { Status } from '../kit/status/Status';
import { formatDistance } from '../kit/time/format';
import { Time } from '../kit/time/Time';
import { useNow } from '../kit/time/use-now';
import { useSigned } from '../session/session';
import { pullHealthOf } from './pull-health';

type Position = Schemas['PullPositionItem'];

const PAGE = 50;
const REFRESH_MS = 10_000;

/** Consumers of pull destinations, with their positions. */
export function PullScreen(): ReactNode {
  const { api, environment } = useSigned();
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
      {isPending && <p role="status">{t('loading')}</p>}
      <FaultLine fault={error} />
      {data && rows.length === 0 && (
        <p className="empty" role="status">
          {t('pull.none')}
        </p>
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
  return (
    <div className="scroll" tabIndex={0} role="region" aria-label={t('nav.pull')}>
      <table className="plain">
        <thead>
          <tr>
            <th scope="col">{t('pull.destination')}</th>
            <th scope="col">{t('column.status')}</th>
            <th scope="col">{t('pull.consumer')}</th>
            <th scope="col">{t('pull.health')}</th>
            <th scope="col">{t('pull.backlog')}</th>
            <th scope="col">{t('pull.oldest')}</th>
            <th scope="col">{t('pull.position')}</th>
            <th scope="col">{t('pull.moved')}</th>
          </tr>
        </thead>
        <tbody>
          {rows.map(
            ({ destination, name, status, endpoint, backlog, committed_through: through, committed_at: at }) => (
              <tr key={`${destination} ${endpoint ?? ''}`}>
                <td>
                  <PathLink to={`/${env}/destinations/${destination}`}>{name}</PathLink>
                </td>
                <td>
                  <Status of={status} />
                </td>
                <td>
                  {endpoint === null ? (
                    t('pull.everything')
                  ) : (
                    <PathLink to={`/${env}/endpoints/${endpoint}`}>{endpoint}</PathLink>
                  )}{' '}
                  <CopyButton
                    text={`/v1/pull/${endpoint ?? destination}`}
                    label={t('pull.copy')}
                    name={t('pull.copy-of', { id: endpoint ?? destination })}
                  />
                </td>
                <td className="long">
                  <Health backlog={backlog} through={through} />
                </td>
                <td>
                  {backlog.is_capped
                    ? t('pull.at-least', { count: backlog.count })
                    : t('pull.count', { count: backlog.count })}
                </td>
                <td>
                  {backlog.oldest_event === null || backlog.oldest_at === null ? (
                    '–'
                  ) : (
                    <PathLink to={`/${env}/events/${backlog.oldest_event}`}>
                      <Time at={backlog.oldest_at} />
                    </PathLink>
                  )}
                </td>
                <td className="long">
                  {through === null ? (
                    t('pull.nothing-yet')
                  ) : (
                    <PathLink to={`/${env}/events/${through}`}>{through}</PathLink>
                  )}
                </td>
                <td>{at === null ? '–' : <Time at={at} />}</td>
              </tr>
            ),
          )}
        </tbody>
      </table>
    </div>
  );
}

const SIGNS = { good: '✓', busy: '↻', bad: '!', dull: '–' } as const;

/** One sentence about a consumer, such as "12 behind, oldest 5 minutes ago". */
function Health({ backlog, through }: { backlog: Position['backlog']; through: string | null }): ReactNode {
  const { language } = usePreferences();
  const nowMs = useNow(serviceNowMs, REFRESH_MS);
  const { sentence, tone } = pullHealthOf({ backlog, committed_through: through }, nowMs);
  const since = backlog.oldest_at === null ? '–' : formatDistance(backlog.oldest_at, nowMs, language);
  return (
    <span className={`status ${tone}`}>
      <span aria-hidden="true">{SIGNS[tone]}</span> {t(`pull.${sentence}`, { count: backlog.count, since })}
    </span>
  );
}
