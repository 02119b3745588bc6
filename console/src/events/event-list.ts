import {
  type InfiniteData,
  type QueryClient,
  useInfiniteQuery,
  type UseInfiniteQueryResult,
  useQuery,
  useQueryClient,
} from '@tanstack/react-query';
import { useCallback, useEffect, useMemo, useReducer, useState } from 'react';
import { answered, type Api, type EventItem, type Schemas, serviceNowMs } from '../api/client';
import { Fault } from '../api/fault';
import { useSigned } from '../session/session';
import { asQuery, type EventFilters, type EventQuery } from './event-filters';
import { listenForNews, type Missed } from './event-news';
import { RowList } from './event-rows';
import { PAGE } from './first-page';

/** Maximum number of rows. Browsers limit the height of an element. */
const ROWS_MAX = 200_000;
/** Minimum interval between requests for the number of events. */
const COUNT_EVERY_MS = 60_000;

interface Page {
  rows: EventItem[];
  next: string | null;
  /** If the page ended early, the time since which all events were searched. Otherwise null. */
  searchedTo: string | null;
  /** The query of the first page, with its times resolved. A cursor is valid only for the query that returned it. */
  query: EventQuery;
  /** Time from which the list continues if there is no valid cursor. Usually null. */
  goesOnAt: string | null;
}
type Place = { cursor: string | null; query: EventQuery; oldest: string } | null;
type Pages = InfiniteData<Page, Place>;

/** The list of events, with functions to load more of them. */
export interface EventList {
  rows: RowList<EventItem>;
  /** Changes each time the rows change. */
  version: number;
  pages: UseInfiniteQueryResult<InfiniteData<Page>>;
  /** If the last page ended early, the time since which all events were searched. Otherwise null. */
  searchedTo: string | null;
  isFull: boolean;
  missed: Missed | null;
  showWaiting: () => void;
  reload: () => void;
  /** Records the index of the first visible row. */
  noteView: (index: number) => void;
}

/**
 * Returns the event list. If `isReading` is true, new events stay hidden until the user clicks a button, so that the
 * rows do not move.
 */
export function useEventList(filters: EventFilters, isReading: boolean): EventList {
  const { api, environment } = useSigned();
  const queries = useQueryClient();
  const key = useMemo(() => ['events', environment, filters], [environment, filters]);
  const pages = useInfiniteQuery({
    queryKey: key,
    initialPageParam: null as Place,
    queryFn: ({ pageParam, signal }) => loadPage(api, pageParam, filters, signal),
    getNextPageParam: placeAfter,
    // Never refetches, because that would load all pages again. New events arrive through the stream.
    staleTime: Infinity,
    refetchOnWindowFocus: false,
    refetchOnReconnect: false,
    gcTime: 120_000,
  });
  const rows = useMemo(
    () =>
      new RowList<EventItem>(
        [filters.status, filters.error, filters.response_status].every((each) => each === undefined),
      ),
    [key],
  );
  const [version, redraw] = useReducer((before: number) => before + 1, 0);
  const [missed, setMissed] = useState<Missed | null>(null);
  useEffect(() => () => setMissed(null), [key]);
  // Updates the rows before rendering. `setPages` skips pages that are already in `rows`.
  useMemo(() => rows.setPages(pages.data?.pages.map((page) => page.rows) ?? []), [rows, pages.data]);
  const { isSuccess, data } = pages;
  const latest = useLatest(isReading);
  useEffect(() => {
    if (!isSuccess) return;
    return listenForNews({
      api,
      environment,
      filters,
      rows,
      isReading: () => latest.isReading,
      viewed: () => latest.viewed,
      drawn: (goesOnAt) => {
        if (goesOnAt !== null) goOnAt(queries, key, goesOnAt, asQuery(filters, serviceNowMs()));
        redraw();
      },
      missed: setMissed,
    });
  }, [api, environment, filters, key, queries, rows, isSuccess]);
  const reload = useCallback(() => {
    setMissed(null);
    void reloadFirst(queries, key, rows).then(redraw);
  }, [queries, key, rows]);
  const showWaiting = useCallback(() => {
    rows.letIn();
    redraw();
  }, [rows]);
  const noteView = useCallback((index: number) => void (latest.viewed = index), [latest]);
  return {
    rows,
    version,
    pages,
    missed,
    showWaiting,
    reload,
    noteView,
    isFull: rows.count >= ROWS_MAX,
    searchedTo: data?.pages.at(-1)?.searchedTo ?? null,
  };
}

/** Returns the number of matching events, up to 10,000. Refetches once a minute while the page is visible. */
export function useCount(filters: EventFilters, isAsked = true) {
  const { api, environment } = useSigned();
  return useQuery({
    queryKey: ['event-count', environment, filters],
    queryFn: ({ signal }) => countOf(api, asQuery(filters, serviceNowMs()), signal),
    enabled: isAsked,
    staleTime: COUNT_EVERY_MS,
    refetchInterval: COUNT_EVERY_MS,
    refetchOnWindowFocus: false,
  });
}

/** Returns the number of events of a query. */
export function countOf(api: Api, query: EventQuery, signal?: AbortSignal): Promise<Schemas['EventCountItem']> {
  return answered(api.GET('/v1/events/count', { params: { query }, ...(signal && { signal }) }));
}

/** Returns one page of a query from the API. */
export function pageOf(
  api: Api,
  query: EventQuery & { cursor?: string },
  signal?: AbortSignal,
): Promise<Schemas['EventPage']> {
  return answered(api.GET('/v1/events', { params: { query: { ...query, limit: PAGE } }, ...(signal && { signal }) }));
}

function placeAfter({ next, query, rows, goesOnAt }: Page): Place {
  if (goesOnAt !== null) return { cursor: null, query: { ...query, until: goesOnAt }, oldest: '' };
  return next === null ? null : { cursor: next, query, oldest: rows.at(-1)?.received_at ?? '' };
}

async function loadPage(api: Api, place: Place, filters: EventFilters, signal: AbortSignal): Promise<Page> {
  const query = place?.query ?? asQuery(filters, serviceNowMs());
  const asked = async (of: EventQuery, cursor: string | null): Promise<Page> => {
    const {
      data,
      next_cursor: next,
      searched_to: searchedTo = null,
    } = await pageOf(api, { ...of, ...(cursor !== null && { cursor }) }, signal);
    return { rows: data.map(compact), next, searchedTo, query: of, goesOnAt: null };
  };
  try {
    return await asked(query, place?.cursor ?? null);
  } catch (error) {
    // A cursor expires after an hour. The list then continues from the time of its oldest row.
    if (
      place === null ||
      place.cursor === null ||
      place.oldest === '' ||
      !(error instanceof Fault) ||
      error.type !== 'bad_request'
    )
      throw error;
    return asked({ ...query, until: place.oldest }, null);
  }
}

const texts = new Map<string, string>();
const TEXTS_MAX = 5_000;

/**
 * Replaces equal types and targets of rows with the same string, and returns the row. This saves memory, because a list
 * of a hundred thousand rows has few different values.
 */
function compact(row: EventItem): EventItem {
  for (const name of ['event_type', 'endpoint', 'destination'] as const) {
    const text = row[name];
    if (text !== null) row[name] = sameText(text);
  }
  return row;
}

function sameText(text: string): string {
  const same = texts.get(text);
  if (same !== undefined) return same;
  if (texts.size < TEXTS_MAX) texts.set(text, text);
  return text;
}

/** Reloads the first page, and drops the other pages and the rows from the stream. If that fails, the rows stay. */
async function reloadFirst(queries: QueryClient, key: readonly unknown[], rows: RowList<EventItem>): Promise<void> {
  const before = queries.getQueryData<Pages>(key);
  if (before !== undefined) queries.setQueryData<Pages>(key, { pages: before.pages.slice(0, 1), pageParams: [null] });
  await queries.refetchQueries({ queryKey: key, exact: true });
  const after = queries.getQueryData<Pages>(key);
  if (after?.pages[0] === before?.pages[0]) return;
  rows.clear();
  rows.setPages(after?.pages.map((page) => page.rows) ?? []);
}

/** Drops the loaded pages. When the user scrolls on, the list continues from the time `goesOnAt`. */
function goOnAt(queries: QueryClient, key: readonly unknown[], goesOnAt: string, query: EventQuery): void {
  queries.setQueryData<Pages>(key, {
    pages: [{ rows: [], next: null, searchedTo: null, query, goesOnAt }],
    pageParams: [null],
  });
}

function useLatest(isReading: boolean): { isReading: boolean; viewed: number } {
  const [latest] = useState({ isReading, viewed: 0 });
  useEffect(() => void (latest.isReading = isReading));
  return latest;
}
