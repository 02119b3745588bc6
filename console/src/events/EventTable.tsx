import { Link } from '@tanstack/react-router';
import { useVirtualizer } from '@tanstack/react-virtual';
import { type ReactNode, useEffect, useRef, useState } from 'react';
import { serviceNowMs } from '../api/client';
import { FaultLine } from '../kit/form/FaultLine';
import { t } from '../kit/messages/t';
import { usePreferences } from '../kit/preferences';
import { useShortcut } from '../kit/shortcuts/use-shortcut';
import { ColumnHandle, handleIds } from '../kit/table/ColumnHandle';
import { showFullText } from '../kit/table/show-full-text';
import { type ColumnWidths, useColumnWidths } from '../kit/table/use-column-widths';
import { Time } from '../kit/time/Time';
import { useNow } from '../kit/time/use-now';
import { PHONE, useMedia } from '../kit/use-media';
import { useSigned } from '../session/session';
import { type ColumnId, COLUMNS, type EventSearch, gridOf, isNumeric } from './columns';
import type { EventList } from './event-list';
import { EventRow } from './EventRow';
import { forgetOpened, listPlace } from './list-place';
import { Loading } from './Loading';

/** Heights of a row by density, as in the style sheet. On a phone, a row has two lines. */
const ROW_PX = { comfortable: 40, compact: 30 } as const;
const PHONE_ROW_PX = { comfortable: 60, compact: 50 } as const;
const NOW_EVERY_MS = 10_000;
/** Name of the list in stored preferences. */
const LIST = 'events';
/** The next page is requested when fewer than this number of loaded rows follow the last visible row. */
const AHEAD = 30;

interface EventTableProps {
  list: EventList;
  search: EventSearch;
  columns: readonly ColumnId[];
  selected: ReadonlySet<string>;
  /** Whether all matching events are selected. */
  isAll: boolean;
  onSelect: (selected: ReadonlySet<string>) => void;
  onScrolled: (isScrolled: boolean) => void;
}

/** Virtualized table with its own scroll container. Renders only the visible rows. */
export function EventTable({
  list,
  search,
  columns,
  selected,
  isAll,
  onSelect,
  onScrolled,
}: EventTableProps): ReactNode {
  const { rows, pages } = list;
  const { count } = rows;
  const box = useRef<HTMLDivElement>(null);
  const { density } = usePreferences();
  const rowPx = (useMedia(PHONE) ? PHONE_ROW_PX : ROW_PX)[density];
  const nowMs = useNow(serviceNowMs, NOW_EVERY_MS);
  const virtual = useVirtualizer({
    count,
    getScrollElement: () => box.current,
    estimateSize: () => rowPx,
    overscan: 6,
    getItemKey: (index) => rows.at(index)?.id ?? index,
  });
  useEffect(() => virtual.measure(), [virtual, rowPx]);
  const items = virtual.getVirtualItems();
  useMore(list, items.at(-1)?.index ?? 0);
  const mark = useSelection(list, selected, onSelect);
  useRowFocus(list, virtual.scrollToIndex, (id) => mark(id, false), box);
  const sizing = useColumnWidths(LIST);
  const scrolled = ({ scrollTop }: HTMLElement): void => {
    list.noteView(Math.floor(scrollTop / rowPx));
    onScrolled(scrollTop > rowPx / 2);
  };
  return (
    <div
      className="table-box"
      ref={box}
      tabIndex={0}
      role="region"
      aria-label={t('events.list')}
      aria-owns={handleIds(LIST, COLUMNS.filter(({ id }) => columns.includes(id)).slice(0, -1))}
      onScroll={(event) => scrolled(event.currentTarget)}
    >
      <div
        role="table"
        aria-label={t('nav.events')}
        aria-rowcount={pages.hasNextPage ? -1 : count + 1}
        className={`event-table ${density}`}
        style={{ '--columns': gridOf(columns, sizing.widths) } as object}
      >
        <Head columns={columns} sizing={sizing} />
        <div role="rowgroup" className="table-rows" style={{ height: virtual.getTotalSize() }}>
          {items.map(({ index, key, start }) => {
            const row = rows.at(index);
            return (
              row && (
                <EventRow
                  key={key}
                  row={row}
                  columns={columns}
                  index={index}
                  start={start}
                  isSelected={isAll || selected.has(row.id)}
                  nowMs={nowMs}
                  onMark={mark}
                />
              )
            );
          })}
        </div>
      </div>
      <Foot list={list} search={search} />
    </div>
  );
}

function Head({ columns, sizing }: { columns: readonly ColumnId[]; sizing: ColumnWidths }): ReactNode {
  const shown = columns.flatMap((column) => COLUMNS.filter(({ id }) => id === column));
  return (
    <div role="rowgroup" className="table-head">
      <div role="row" aria-rowindex={1} className="event-row">
        <span role="columnheader">
          <span className="offscreen">{t('select')}</span>
        </span>
        {shown.map(({ id, label }, index) => (
          <span
            key={id}
            role="columnheader"
            className={isNumeric(id) ? 'numeric' : undefined}
            onMouseEnter={showFullText}
          >
            {t(label)}
            {index < shown.length - 1 && (
              <ColumnHandle
                list={LIST}
                column={id}
                label={t(label)}
                drag={sizing.drag}
                store={sizing.store}
                reset={sizing.reset}
              />
            )}
          </span>
        ))}
      </div>
    </div>
  );
}

/** Text below the last row: loading, an error, or why the list ends early, with a link to older events. */
function Foot({ list: { pages, isFull, searchedTo }, search }: { list: EventList; search: EventSearch }): ReactNode {
  const { environment: env } = useSigned();
  const { isFetchNextPageError, isFetchingNextPage, hasNextPage, fetchNextPage, error, failureReason } = pages;
  if (isFull) return <p role="status">{t('events.full')}</p>;
  if (isFetchNextPageError)
    return (
      <div>
        <FaultLine fault={error} />
        <p>
          <button type="button" onClick={() => void fetchNextPage()}>
            {t('retry')}
          </button>
        </p>
      </div>
    );
  const isSearching = hasNextPage && searchedTo !== null;
  if (!isFetchingNextPage && !isSearching) return null;
  // Elements that appear only temporarily are last, so that links do not move while the user clicks.
  return (
    <p>
      {isSearching && (
        <span className="quiet">
          {t('events.searched')} <Time at={searchedTo} />{' '}
        </span>
      )}
      {isSearching && (
        <Link className="button" to="/$env/events" params={{ env }} search={{ ...search, since: searchedTo }}>
          {t('events.look-no-further')}
        </Link>
      )}
      {isFetchingNextPage && (
        <>
          {' '}
          <Loading fault={failureReason} />
        </>
      )}
    </p>
  );
}

/** Loads more rows before the user reaches the end of the list. */
function useMore({ rows: { count }, pages, isFull }: EventList, last: number): void {
  const { hasNextPage, isFetchingNextPage, isFetchNextPageError, fetchNextPage } = pages;
  useEffect(() => {
    if (last >= count - AHEAD && hasNextPage && !isFetchingNextPage && !isFetchNextPageError && !isFull)
      void fetchNextPage();
  }, [last, count, hasNextPage, isFetchingNextPage, isFetchNextPageError, fetchNextPage, isFull]);
}

/** Selects one row, or with shift the range from the previously selected row. */
function useSelection(
  { rows }: EventList,
  selected: ReadonlySet<string>,
  onSelect: (selected: ReadonlySet<string>) => void,
): (id: string, isRange: boolean) => void {
  const [anchor, setAnchor] = useState<string | null>(null);
  return (id, isRange) => {
    const next = new Set(selected);
    const to = rows.indexOf(id);
    const from = isRange && anchor !== null ? Math.max(0, rows.indexOf(anchor)) : to;
    const isOn = !selected.has(id);
    for (let at = Math.min(from, to); at <= Math.max(from, to); at += 1) {
      const row = rows.at(at);
      if (row === undefined) continue;
      if (isOn) next.add(row.id);
      else next.delete(row.id);
    }
    setAnchor(id);
    onSelect(next);
  };
}

/**
 * Keyboard navigation: `j` and `k` move the focus, Enter opens the focused row. When the user returns to the list, the
 * row that was opened gets the focus again.
 */
function useRowFocus(
  { rows, version }: EventList,
  scrollTo: (index: number) => void,
  mark: (id: string) => void,
  box: { current: HTMLElement | null },
): void {
  const focused = (): number => {
    const id = document.activeElement?.closest<HTMLElement>('[data-id]')?.dataset['id'];
    return id === undefined ? -1 : rows.indexOf(id);
  };
  const focus = (index: number): void => {
    const id = rows.at(index)?.id;
    if (id === undefined) return;
    scrollTo(index);
    // Retries in the next frames, because rendering the row may take several frames on a busy machine.
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
    const row = rows.at(focused());
    if (row !== undefined) mark(row.id);
  });
  const { count } = rows;
  // Focuses the row that was opened before the user went back. A row that arrived through the stream reappears later
  // than other rows. If another element has the focus by then, the row does not take it.
  useEffect(() => {
    const { opened } = listPlace();
    if (count === 0 || opened === null) return;
    const index = rows.indexOf(opened);
    const isFree = document.activeElement === null || document.activeElement === document.body;
    if (index !== -1 || !isFree) forgetOpened();
    if (index !== -1 && isFree) focus(index);
    // `focus` is not a dependency, because it is a new function at every render.
  }, [rows, count, version]);
}
