import { useVirtualizer } from '@tanstack/react-virtual';
import { Link } from '@tanstack/react-router';
import { type MouseEvent, type ReactNode, useEffect, useRef, useState } from 'react';
import { t } from '../kit/messages/t';
import { useShortcut } from '../kit/shortcuts/use-shortcut';
import { Status } from '../kit/status/Status';
import { Time } from '../kit/time/Time';
import { useSigned } from '../session/session';
import { type EventItem, type EventList, useDestinationNames } from './event-queries';
import { forgetOpened, listPlace, rememberOpened } from './list-place';

const ROW_PX = 40;
/** So many rows before the end more are asked for. */
const AHEAD = 30;

interface EventTableProps {
  list: EventList;
  selected: ReadonlySet<string>;
  onSelect: (selected: ReadonlySet<string>) => void;
  onScrolled: (isScrolled: boolean) => void;
}

/** The rows that are in sight, and no others, in a table of its own scrolling box. */
export function EventTable({ list, selected, onSelect, onScrolled }: EventTableProps): ReactNode {
  const { rows, pages, isFull } = list;
  const box = useRef<HTMLDivElement>(null);
  const virtual = useVirtualizer({ count: rows.length, getScrollElement: () => box.current, estimateSize: () => ROW_PX, overscan: 12, getItemKey: (index) => rows[index]?.id ?? index });
  const items = virtual.getVirtualItems();
  const last = items.at(-1)?.index ?? 0;
  const { hasNextPage, isFetchingNextPage, isFetchNextPageError, fetchNextPage } = pages;
  useEffect(() => {
    if (last >= rows.length - AHEAD && hasNextPage && !isFetchingNextPage && !isFetchNextPageError && !isFull) void fetchNextPage();
  }, [last, rows.length, hasNextPage, isFetchingNextPage, isFetchNextPageError, fetchNextPage, isFull]);
  const mark = useSelection(rows, selected, onSelect);
  useRowFocus(rows, virtual.scrollToIndex, (id) => mark(id, false), box);
  const names = useDestinationNames();
  return (
    <div className="table-box" ref={box} tabIndex={0} role="region" aria-label={t('events.list')} onScroll={(event) => onScrolled(event.currentTarget.scrollTop > ROW_PX / 2)}>
      <div role="table" aria-label={t('nav.events')} aria-rowcount={hasNextPage ? -1 : rows.length + 1} className="event-table">
        <div role="rowgroup" className="table-head">
          <div role="row" aria-rowindex={1} className="event-row">
            <span role="columnheader"><span className="offscreen">{t('select')}</span></span>
            <span role="columnheader">{t('column.status')}</span><span role="columnheader">{t('column.type')}</span>
            <span role="columnheader">{t('column.target')}</span><span role="columnheader">{t('column.received')}</span><span role="columnheader">{t('column.id')}</span>
          </div>
        </div>
        <div role="rowgroup" className="table-rows" style={{ height: virtual.getTotalSize() }}>
          {items.map(({ index, key, start }) => {
            const row = rows[index];
            return row && (
              <Row key={key} row={row} index={index} start={start} isSelected={selected.has(row.id)} target={targetOf(row, names.get(row.destination ?? '')?.name)} onMark={mark} />
            );
          })}
        </div>
      </div>
      {isFetchNextPageError && <p><button type="button" onClick={() => void fetchNextPage()}>{t('retry')}</button></p>}
      {isFull && <p role="status">{t('events.full')}</p>}
    </div>
  );
}

interface RowProps {
  row: EventItem;
  index: number;
  start: number;
  isSelected: boolean;
  target: string;
  onMark: (id: string, isRange: boolean) => void;
}

function Row({ row, index, start, isSelected, target, onMark }: RowProps): ReactNode {
  const { environment: env } = useSigned();
  return (
    <div role="row" aria-rowindex={index + 2} className="event-row" style={{ transform: `translateY(${start}px)` }} data-id={row.id}>
      <span role="cell" className="mark"><input type="checkbox" checked={isSelected} aria-label={t('select.event', { id: row.id })} onChange={() => undefined}
        onClick={(event: MouseEvent<HTMLInputElement>) => onMark(row.id, event.shiftKey)} /></span>
      <span role="cell"><Status of={row.status} /></span>
      <span role="cell" className="main">
        <Link to="/$env/events/$id" params={{ env, id: row.id }} preload={false} onClick={() => rememberOpened(row.id)}>{row.event_type}</Link>
      </span>
      <span role="cell" className="wide-only">{target}</span>
      <span role="cell"><Time at={row.received_at} /></span>
      <span role="cell" className="wide-only id">{row.id}</span>
    </div>
  );
}

function targetOf({ destination, endpoint }: EventItem, name: string | undefined): string {
  return name ?? destination ?? endpoint ?? '';
}

/** Marks one row, or with shift all between it and the one before. */
function useSelection(rows: readonly EventItem[], selected: ReadonlySet<string>, onSelect: (selected: ReadonlySet<string>) => void): (id: string, isRange: boolean) => void {
  const [anchor, setAnchor] = useState<string | null>(null);
  return (id, isRange) => {
    const next = new Set(selected);
    const from = rows.findIndex((row) => row.id === (isRange && anchor !== null ? anchor : id));
    const to = rows.findIndex((row) => row.id === id);
    const isOn = !selected.has(id);
    for (const row of rows.slice(Math.min(from, to), Math.max(from, to) + 1)) {
      if (isOn) next.add(row.id);
      else next.delete(row.id);
    }
    setAnchor(id);
    onSelect(next);
  };
}

/** `j` and `k` move the focus, Enter opens what has it, and the focus returns to the row that one comes back from. */
function useRowFocus(rows: readonly EventItem[], scrollTo: (index: number) => void, mark: (id: string) => void, box: { current: HTMLElement | null }): void {
  const focused = (): number => {
    const id = document.activeElement?.closest<HTMLElement>('[data-id]')?.dataset['id'];
    return id === undefined ? -1 : rows.findIndex((row) => row.id === id);
  };
  const focus = (index: number): void => {
    const id = rows[index]?.id;
    if (id === undefined) return;
    scrollTo(index);
    // The row may have to be drawn first, which takes a busy machine some frames.
    const take = (framesLeft: number): void => {
      const link = box.current?.querySelector<HTMLElement>(`[data-id="${id}"] a`);
      if (link) link.focus({ preventScroll: true });
      else if (framesLeft > 0) requestAnimationFrame(() => take(framesLeft - 1));
    };
    take(60);
  };
  useShortcut('next', () => focus(focused() + 1));
  useShortcut('previous', () => focus(Math.max(0, focused() - 1)));
  useShortcut('select', () => {
    const row = rows[focused()];
    if (row !== undefined) mark(row.id);
  });
  // What arrived live is there again a moment after the rest: until then nobody else may have taken the focus.
  useEffect(() => {
    const { opened } = listPlace();
    if (rows.length === 0 || opened === null) return;
    const index = rows.findIndex(({ id }) => id === opened);
    const isFree = document.activeElement === null || document.activeElement === document.body;
    if (index !== -1 || !isFree) forgetOpened();
    if (index !== -1 && isFree) focus(index);
    // `focus` is another one at each drawing, and does the same.
  }, [rows]);
}
