import './events.css';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { type ReactNode, useEffect, useMemo, useState } from 'react';
import { serviceNowMs } from '../api/client';
import { Choices } from '../kit/form/Choices';
import { FaultLine } from '../kit/form/FaultLine';
import { formatCount } from '../kit/format-count';
import { t } from '../kit/messages/t';
import { keysOf } from '../kit/shortcuts/registry';
import { useShortcut } from '../kit/shortcuts/use-shortcut';
import { DensityButton } from '../kit/table/DensityButton';
import { PHONE, useMedia } from '../kit/use-media';
import { useSigned } from '../session/session';
import { asColumns, COLUMNS, columnsOf, type EventSearch, filtersOf, NARROW_COLUMNS } from './columns';
import { asFixedQuery, type EventFilters, type EventQuery } from './event-filters';
import { type EventList, useCount, useEventList } from './event-list';
import type { EventItem } from './event-queries';
import { EventTable } from './EventTable';
import { ExportDialog } from './ExportDialog';
import { FilterBar } from './FilterBar';
import { FirstEvent } from './FirstEvent';
import { rememberList } from './list-place';
import { EventsSkeleton } from './Loading';
import { News } from './News';
import { SavedViews } from './SavedViews';
import { SelectionBar } from './SelectionBar';

/** The selection: individual rows, or all events that matched at the time of the selection. */
interface Selection {
  ids: ReadonlySet<string>;
  all: EventQuery | null;
}

const NOTHING: Selection = { ids: new Set(), all: null };

/** List of events, newest first. Updates live, and loads a hundred events at a time while the user scrolls. */
export function EventsScreen(): ReactNode {
  const search = useSearch({ from: '/$env/events' });
  const said = JSON.stringify(filtersOf(search));
  // Returns the same object until the filters change, so that a change of the columns does not reload the list.
  const filters = useMemo(() => JSON.parse(said) as EventFilters, [said]);
  const [isPaused, setPaused] = useState(false);
  const [isScrolled, setScrolled] = useState(false);
  const [selected, setSelected] = useState(NOTHING);
  const isSelecting = selected.ids.size > 0 || selected.all !== null;
  const list = useEventList(filters, isPaused || isScrolled || isSelecting);
  const { rows, pages } = list;
  useShortcut('pause', () => setPaused(!isPaused));
  useEffect(() => rememberList(rows, search), [rows, search]);
  useEffect(() => setSelected(NOTHING), [filters]);
  const isEmpty = pages.isSuccess && rows.count === 0 && !pages.hasNextPage;
  const isFiltered = Object.keys(filters).length > 0;
  const done = (): void => setSelected(NOTHING);
  return (
    <div className="events page">
      <title>{`${t('nav.events')} · Posthorn`}</title>
      <Heading search={search} filters={filters} list={list} isPaused={isPaused} onPause={() => setPaused(!isPaused)} />
      {(!isEmpty || isFiltered) && <FilterBar search={search} filters={filters} />}
      <FaultLine fault={pages.isFetchNextPageError ? null : pages.error} />
      <News list={list} />
      {isSelecting && (
        <SelectionBar
          rows={marked(list, selected)}
          all={selected.all}
          filters={filters}
          onAll={(all) => setSelected({ ids: selected.ids, all })}
          onDone={done}
        />
      )}
      {isEmpty && !isFiltered && <FirstEvent />}
      {isEmpty && isFiltered && (
        <p className="empty" role="status">
          {t('events.none')}
        </p>
      )}
      {(rows.count > 0 || pages.hasNextPage) && (
        <Table
          list={list}
          search={search}
          selected={selected}
          onSelect={(ids) => setSelected({ ids, all: null })}
          onScrolled={setScrolled}
        />
      )}
      {pages.isPending && <EventsSkeleton fault={pages.failureReason} />}
    </div>
  );
}

function marked({ rows }: EventList, { ids }: Selection): EventItem[] {
  return [...ids].flatMap((id) => rows.get(id) ?? []);
}

/** Table of the events. On a phone, it shows only the most important columns. */
function Table({
  list,
  search,
  selected,
  onSelect,
  onScrolled,
}: {
  list: EventList;
  search: EventSearch;
  selected: Selection;
  onSelect: (ids: ReadonlySet<string>) => void;
  onScrolled: (isScrolled: boolean) => void;
}): ReactNode {
  const isNarrow = useMedia(PHONE);
  return (
    <EventTable
      list={list}
      search={search}
      columns={isNarrow ? NARROW_COLUMNS : columnsOf(search)}
      selected={selected.ids}
      isAll={selected.all !== null}
      onSelect={onSelect}
      onScrolled={onScrolled}
    />
  );
}

interface HeadingProps {
  search: EventSearch;
  filters: EventFilters;
  list: EventList;
  isPaused: boolean;
  onPause: () => void;
}

function Heading({ search, filters, list, isPaused, onPause }: HeadingProps): ReactNode {
  const { environment: env } = useSigned();
  const navigate = useNavigate();
  const [exported, setExported] = useState<EventQuery | null>(null);
  // Counts the events only after the rows have loaded, because counting scans more events.
  const { data: count } = useCount(filters, list.pages.isSuccess);
  const isNarrow = useMedia(PHONE);
  const chosen = columnsOf(search);
  const choose = (columns: readonly (typeof chosen)[number][]): void => {
    const said = asColumns(columns);
    void navigate({
      to: '/$env/events',
      params: { env },
      search: { ...filters, ...(said !== undefined && { columns: said }) },
    });
  };
  return (
    <div className="heading">
      <h1>{t('nav.events')}</h1>
      <span className="count">{count !== undefined && formatCount(count)}</span>
      <SavedViews search={search} />
      {/* A phone shows a fixed choice of columns, two lines high. */}
      {!isNarrow && (
        <>
          <Choices
            label={t('columns')}
            shown={t('columns')}
            options={COLUMNS.map(({ id, label }) => ({ id, label: t(label), isFixed: id === 'type' }))}
            chosen={chosen}
            onChange={choose}
          />
          <DensityButton />
        </>
      )}
      <button
        type="button"
        disabled={list.pages.isLoadingError}
        title={list.pages.isLoadingError ? t('export.off') : undefined}
        onClick={() => setExported(asFixedQuery(filters, serviceNowMs()))}
      >
        {t('export')}
      </button>
      <button type="button" aria-pressed={isPaused} title={keysOf('pause')} onClick={onPause}>
        {t(isPaused ? 'live.go-on' : 'live.pause')}
      </button>
      <button type="button" onClick={list.reload}>
        {t('reload')}
      </button>
      {exported !== null && <ExportDialog of={{ query: exported }} onClose={() => setExported(null)} />}
    </div>
  );
}
