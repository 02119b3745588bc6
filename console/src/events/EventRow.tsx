import { Link } from '@tanstack/react-router';
import type { MouseEvent, ReactNode } from 'react';
import type { EventItem } from '../api/client';
import { t, word } from '../kit/messages/t';
import { Status } from '../kit/status/Status';
import { showFullText } from '../kit/table/show-full-text';
import { Since } from '../kit/time/Since';
import { useResource } from '../session/ResourceName';
import { useSigned } from '../session/session';
import { type ColumnId, isNumeric } from './columns';
import { rememberOpened } from './list-place';
import { formatResponseStatus, isEmail } from './response-status';
import { rowStatusOf } from './timeline';

interface EventRowProps {
  row: EventItem;
  columns: readonly ColumnId[];
  index: number;
  start: number;
  isSelected: boolean;
  nowMs: number;
  onMark: (id: string, isRange: boolean) => void;
}

/** Row of one event, with a link and a checkbox. */
export function EventRow({ row, columns, index, start, isSelected, nowMs, onMark }: EventRowProps): ReactNode {
  // Emails have an internal destination, which has no name in the API.
  const targetId = isEmail(row) ? '' : (row.destination ?? row.endpoint ?? '');
  const resource = useResource(targetId);
  const target = isEmail(row) ? t('target.email') : (resource?.name ?? targetId);
  return (
    <div
      role="row"
      aria-rowindex={index + 2}
      className="event-row"
      style={{ transform: `translateY(${start}px)` }}
      data-id={row.id}
    >
      <span role="cell" className="row-select">
        <input
          type="checkbox"
          checked={isSelected}
          aria-label={t('select.event', { id: row.id })}
          onChange={() => undefined}
          onClick={(event: MouseEvent<HTMLInputElement>) => onMark(row.id, event.shiftKey)}
        />
      </span>
      {columns.map((column) => (
        <span
          key={column}
          role="cell"
          className={`of-${column}${isNumeric(column) ? ' numeric' : ''}`}
          onMouseEnter={showFullText}
        >
          <Cell column={column} row={row} target={target} targetType={resource?.type ?? undefined} nowMs={nowMs} />
        </span>
      ))}
    </div>
  );
}

function Cell({
  column,
  row,
  target,
  targetType,
  nowMs,
}: {
  column: ColumnId;
  row: EventItem;
  target: string;
  /** Type of the destination. Undefined if it is unknown. */
  targetType: string | undefined;
  nowMs: number;
}): ReactNode {
  const { environment: env } = useSigned();
  switch (column) {
    case 'status':
      return <Status of={rowStatusOf(row, targetType, nowMs)} />;
    case 'type':
      return (
        <Link
          to="/$env/events/$id"
          params={{ env, id: row.id }}
          onClick={() => rememberOpened(row.id)}
          title={row.event_type}
        >
          {row.event_type}
        </Link>
      );
    case 'target':
      return <span title={target}>{target}</span>;
    case 'attempts':
      return row.attempt_count === 0 ? '–' : t('count', { count: row.attempt_count });
    case 'answer':
      return <Answer of={row} />;
    case 'next':
      return row.next_attempt_at === null ? '–' : <Since at={row.next_attempt_at} nowMs={nowMs} isShort />;
    case 'received':
      return <Since at={row.received_at} nowMs={nowMs} isShort />;
    case 'message':
      return (
        <span className="id" title={row.message_id ?? undefined}>
          {row.message_id ?? '–'}
        </span>
      );
    case 'id':
      return (
        <span className="id" title={row.id}>
          {row.id}
        </span>
      );
  }
}

/** Result of the last attempt: the status code, or the error in words. */
function Answer({ of }: { of: EventItem }): ReactNode {
  const { last_attempt: last } = of;
  if (last === null) return '–';
  const text =
    last.error !== null || last.status === null
      ? word('error', last.error ?? 'connection')
      : formatResponseStatus(of, last.status);
  return <span title={text}>{text}</span>;
}
