import { useParams } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { FaultLine } from '../kit/form/FaultLine';
import { ListSkeleton } from '../kit/load/Skeleton';
import { t } from '../kit/messages/t';
import { PathLink } from '../kit/PathLink';
import { RelativeTime } from '../kit/time/RelativeTime';
import { useSigned } from '../session/session';
import { useMessages } from './application-queries';

/** Messages sent to an application, including messages to which no endpoint subscribes. */
export function MessagesTab(): ReactNode {
  const { id } = useParams({ from: '/$env/applications/$id' });
  const { environment: env } = useSigned();
  const { data, error, isPending, hasNextPage, fetchNextPage } = useMessages(id);
  const rows = data?.pages.flatMap((page) => page.data) ?? [];
  return (
    <>
      {isPending && <ListSkeleton />}
      <FaultLine fault={error} />
      {data && rows.length === 0 && (
        <p className="empty" role="status">
          {t('messages.none')}
        </p>
      )}
      {rows.length > 0 && (
        <div className="scroll" tabIndex={0} role="region" aria-label={t('application.messages')}>
          <table className="plain">
            <thead>
              <tr>
                <th scope="col">{t('column.type')}</th>
                <th scope="col">{t('message.fan-out')}</th>
                <th scope="col">{t('message.channels')}</th>
                <th scope="col">{t('request.size')}</th>
                <th scope="col">{t('message.sent')}</th>
                <th scope="col">{t('column.id')}</th>
              </tr>
            </thead>
            <tbody>
              {rows.map((row) => (
                <tr key={row.id}>
                  <td className="long">
                    <PathLink to={`/${env}/events`} search={{ message_id: row.id }}>
                      {row.event_type}
                    </PathLink>
                  </td>
                  <td>
                    {row.fanout === 0 ? (
                      <span className="status dull">
                        <span aria-hidden="true">–</span> {t('message.nobody')}
                      </span>
                    ) : (
                      t(row.fanout === 1 ? 'message.one' : 'message.many', { count: row.fanout })
                    )}
                  </td>
                  <td className="long">{row.channels.join(', ') || '–'}</td>
                  <td className="number">{t('payload.size', { bytes: row.payload_bytes })}</td>
                  <td>
                    <RelativeTime at={row.created_at} />
                  </td>
                  <td>
                    <code>{row.id}</code>
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
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
