import { useParams } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import type { Environment, Schemas } from '../api/client';
import { FaultLine } from '../kit/form/FaultLine';
import { ListSkeleton } from '../kit/load/Skeleton';
import { t } from '../kit/messages/t';
import { PathLink } from '../kit/PathLink';
import { type Column, Table } from '../kit/table/Table';
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
        <Table
          id="application-messages"
          label={t('application.messages')}
          rows={rows}
          columns={columnsIn(env)}
          keyOf={({ id: key }) => key}
        />
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

type Message = Schemas['MessageItem'];

function columnsIn(env: Environment): Column<Message>[] {
  return [
    {
      id: 'type',
      label: t('column.type'),
      cell: ({ id, event_type: type }) => (
        <PathLink to={`/${env}/events`} search={{ message_id: id }}>
          {type}
        </PathLink>
      ),
      full: ({ event_type: type }) => type,
      isFlexible: true,
    },
    {
      id: 'fan-out',
      label: t('message.fan-out'),
      cell: ({ fanout }) =>
        fanout === 0 ? (
          <span className="status dull">
            <span aria-hidden="true">–</span> {t('message.nobody')}
          </span>
        ) : (
          t(fanout === 1 ? 'message.one' : 'message.many', { count: fanout })
        ),
    },
    {
      id: 'channels',
      label: t('message.channels'),
      cell: ({ channels }) => channels.join(', ') || '–',
      isFlexible: true,
    },
    {
      id: 'size',
      label: t('request.size'),
      cell: ({ payload_bytes: bytes }) => t('payload.size', { bytes }),
      isNumeric: true,
    },
    { id: 'sent', label: t('message.sent'), cell: ({ created_at: at }) => <RelativeTime at={at} /> },
    { id: 'id', label: t('column.id'), cell: ({ id }) => <code>{id}</code>, full: ({ id }) => id },
  ];
}
