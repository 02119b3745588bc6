import { Link } from '@tanstack/react-router';
import type { MouseEvent, ReactNode } from 'react';
import type { EventItem } from '../api/client';
import { t, word } from '../kit/messages/t';
import { Status } from '../kit/status/Status';
import { Time } from '../kit/time/Time';
import { useSigned } from '../session/session';
import type { ColumnId } from './columns';
import { rememberOpened } from './list-place';

interface EventRowProps {
  row: EventItem;
  columns: readonly ColumnId[];
  index: number;
  start: number;
  isSelected: boolean;
  target: string;
  onMark: (id: string, isRange: boolean) => void;
}

/** Row of one event, with a link and a checkbox. */
export function EventRow({ row, columns, index, start, isSelected, target, onMark }: EventRowProps): ReactNode {
  return (
    <div
      role="row"
      aria-rowindex={index + 2}
      className="event-row"
      style={{ transform: `translateY(${start}px)` }}
      data-id={row.id}
    >
      <span role="cell" className="mark">
        <input
          type="checkbox"
          checked={isSelected}
          aria-label={t('select.event', { id: row.id })}
          onChange={() => undefined}
          onClick={(event: MouseEvent<HTMLInputElement>) => onMark(row.id, event.shiftKey)}
        />
      </span>
      {columns.map((column) => (
        <span key={column} role="cell" className={column === 'type' ? 'main' : undefined}>
          <Cell column={column} row={row} target={target} />
        </span>
      ))}
    </div>
  );
}

function Cell({ column, row, target }: { column: ColumnId; row: EventItem; target: string }): ReactNode {
  const { environment: env } = useSigned();
  switch (column) {
    case 'status':
      return <Status of={row.status} />;
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
      return <Answer of={row.last_attempt} />;
    case 'next':
      return row.next_attempt_at === null ? '–' : <Time at={row.next_attempt_at} isShort />;
    case 'received':
      return <Time at={row.received_at} />;
    case 'message':
      return <span className="id">{row.message_id ?? '–'}</span>;
    case 'id':
      return <span className="id">{row.id}</span>;
  }
}

/** Result of the last attempt: the status code, or the error in words. */
function Answer({ of }: { of: EventItem['last_attempt'] }): ReactNode {
  if (of === null) return '–';
  const text = of.error === null ? `HTTP ${of.status ?? ''}` : word('error', of.error);
  return <span title={text}>{text}</span>;
}
