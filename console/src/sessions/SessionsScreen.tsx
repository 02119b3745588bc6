import { useInfiniteQuery, useQueryClient } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import { answered, type Schemas } from '../api/client';
import { Confirm } from '../kit/dialog/Confirm';
import { FaultLine } from '../kit/form/FaultLine';
import { t } from '../kit/messages/t';
import { Time } from '../kit/time/Time';
import { useSigned } from '../session/session';

type Session = Schemas['SessionItem'];

/** Signed-in browsers, in which the user can sign out each of them. */
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
      <p>{t(can('admin') ? 'sessions.text' : 'for-admins')}</p>
      {can('admin') && isPending && <p role="status">{t('loading')}</p>}
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
  return (
    <div className="scroll" tabIndex={0} role="region" aria-label={t('nav.sessions')}>
      <table className="plain">
        <thead>
          <tr>
            <th scope="col">{t('sessions.who')}</th>
            <th scope="col">{t('sessions.how')}</th>
            <th scope="col">{t('sessions.where')}</th>
            <th scope="col">{t('sessions.begun')}</th>
            <th scope="col">{t('sessions.seen')}</th>
            <th scope="col">{t('sessions.expires')}</th>
            <th scope="col">{t('actions')}</th>
          </tr>
        </thead>
        <tbody>
          {rows.map((of) => (
            <tr key={of.id}>
              <td>
                {of.email ?? <code>{of.key}</code>}
                {of.id === ownId && <span className="tag">{t('sessions.this')}</span>}
              </td>
              <td>{t(`sessions.how.${of.how}`)}</td>
              <td className="long">
                {of.network}
                <div className="quiet">{of.user_agent}</div>
              </td>
              <td>
                <Time at={of.created_at} />
              </td>
              <td>
                <Time at={of.last_seen_at} />
              </td>
              <td>
                <Time at={of.expires_at} />
              </td>
              <td>
                <button
                  type="button"
                  className="small"
                  aria-label={`${t('sessions.end')}: ${nameOf(of)} ${of.network}`}
                  onClick={() => onEnd(of)}
                >
                  {t('sessions.end')}
                </button>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

const nameOf = ({ email, key, id }: Session): string => email ?? key ?? id;
