import { type InfiniteData, useInfiniteQuery, useQuery, type UseInfiniteQueryResult } from '@tanstack/react-query';
import { useCallback, useEffect, useMemo, useRef, useState } from 'react';
import { answered, type Api, type EventItem, payloadOf, type Schemas, serviceNowMs } from '../api/client';
import { listenToEvents } from '../api/event-stream';
import { Fault } from '../api/fault';
import { useSigned } from '../session/session';
import { asQuery, asStreamQuery, canGrow, type EventFilters } from './event-filters';
import { arrive, type Arrived, letIn, NOTHING_ARRIVED, rowsOf } from './event-rows';

export type { EventItem };
export type EventDetail = Schemas['EventDetailItem'];

/** Browsers draw no higher than this many rows. */
const ROWS_MAX = 200_000;
const PAGE = 100;
/** How often what the stream told is drawn. */
const DRAW_EVERY_MS = 250;

interface Page {
  rows: EventItem[];
  next: string | null;
  /** The range as it was when the list began: a cursor is bound to its query. */
  query: EventFilters;
}
type Place = { cursor: string | null; query: EventFilters; oldest: string } | null;

/** The list of events: its pages, what arrived since, and how to have more. */
export interface EventList {
  rows: EventItem[];
  pages: UseInfiniteQueryResult<InfiniteData<Page>>;
  arrived: Arrived<EventItem>;
  isFull: boolean;
  /** Whether something happened that the stream did not tell. */
  hasGap: boolean;
  showWaiting: () => void;
  reload: () => void;
}

/** `isReading` keeps what arrives behind a button; `isLive` listens at all. */
export function useEventList(filters: EventFilters, { isLive, isReading }: { isLive: boolean; isReading: boolean }): EventList {
  const { api, environment } = useSigned();
  const pages = useInfiniteQuery({
    queryKey: ['events', environment, filters],
    initialPageParam: null as Place,
    queryFn: ({ pageParam, signal }) => loadPage(api, pageParam, filters, signal),
    getNextPageParam: ({ next, query, rows }): Place => (next === null ? null : { cursor: next, query, oldest: rows.at(-1)?.received_at ?? '' }),
    // A list that is refetched asks for all its pages: what is new comes by the stream.
    staleTime: Infinity, refetchOnWindowFocus: false, refetchOnReconnect: false, gcTime: 120_000,
  });
  const news = useNews(filters, pages.data, { isLive: isLive && pages.isSuccess, isReading });
  const rows = useMemo(() => rowsOf(news.arrived, pages.data?.pages.map((page) => page.rows) ?? []), [news.arrived, pages.data]);
  const { refetch } = pages;
  const reset = news.reset;
  const reload = useCallback(() => {
    reset();
    void refetch();
  }, [refetch, reset]);
  return { rows, pages, arrived: news.arrived, hasGap: news.hasGap, showWaiting: news.showWaiting, isFull: rows.length >= ROWS_MAX, reload };
}

type ListQuery = NonNullable<NonNullable<Parameters<Api['GET']>[1]>['params']>['query'];

/** The filters as the list takes them: one status is a word, as the address has it. */
function listQuery(filters: EventFilters & { cursor?: string }): ListQuery {
  return { ...filters, limit: PAGE } as ListQuery;
}

async function loadPage(api: Api, place: Place, filters: EventFilters, signal: AbortSignal): Promise<Page> {
  const query = place?.query ?? asQuery(filters, serviceNowMs());
  const ask = (more: object): Promise<Schemas['EventPage']> => answered(api.GET('/v1/events', { params: { query: listQuery({ ...query, ...more }) }, signal }));
  if (place === null || place.cursor === null) {
    const { data, next_cursor: next } = await ask({});
    return { rows: data, next, query };
  }
  try {
    const { data, next_cursor: next } = await ask({ cursor: place.cursor });
    return { rows: data, next, query };
  } catch (error) {
    // Cursors live an hour: a list that was left open goes on from its oldest row.
    if (!(error instanceof Fault) || error.type !== 'bad_request' || place.oldest === '') throw error;
    const onward = { ...query, until: place.oldest };
    const { data, next_cursor: next } = await answered(api.GET('/v1/events', { params: { query: listQuery(onward) }, signal }));
    return { rows: data, next, query: onward };
  }
}

/** What the stream tells, drawn a few times a second at most. */
function useNews(filters: EventFilters, data: InfiniteData<Page> | undefined, { isLive, isReading }: { isLive: boolean; isReading: boolean }) {
  const { api, environment } = useSigned();
  const [arrived, setArrived] = useState<Arrived<EventItem>>(NOTHING_ARRIVED);
  const [hasGap, setGap] = useState(false);
  const latest = useRef({ isReading, data });
  useEffect(() => void (latest.current = { isReading, data }));
  const key = JSON.stringify(filters);
  const reset = useCallback(() => {
    setArrived(NOTHING_ARRIVED);
    setGap(false);
  }, []);
  useEffect(() => reset, [key, environment, reset]);
  useEffect(() => {
    const told = JSON.parse(key) as EventFilters;
    if (!isLive || !canGrow(told)) return;
    let queue: { isNew: boolean; row: EventItem }[] = [];
    const draw = (): void => {
      if (queue.length === 0) return;
      const batch = queue;
      queue = [];
      const known = new Set((latest.current.data?.pages ?? []).flatMap(({ rows }) => rows.map(({ id }) => id)));
      setArrived((before) => arrive(before, batch, known, latest.current.isReading));
    };
    const timer = setInterval(draw, DRAW_EVERY_MS);
    // Between the list and the beginning of the stream: the newest page again. When all of it is new there may be more behind it.
    const catchUp = (): void => {
      answered(api.GET('/v1/events', { params: { query: listQuery(asQuery(told, serviceNowMs())) } })).then(({ data: newest }) => {
        const known = new Set(latest.current.data?.pages[0]?.rows.map(({ id }) => id));
        if (known.size > 0 && newest.length === PAGE && !newest.some(({ id }) => known.has(id))) setGap(true);
        queue.push(...newest.reverse().map((row) => ({ isNew: true, row })));
      }, () => undefined);
    };
    const stop = listenToEvents(environment, asStreamQuery(told), {
      ready: catchUp, gap: () => setGap(true),
      changed: (kind, row) => void queue.push({ isNew: kind === 'accepted' || told.status !== undefined, row }),
    });
    return () => {
      stop();
      clearInterval(timer);
    };
  }, [api, environment, isLive, key]);
  return { arrived, hasGap, reset, showWaiting: useCallback(() => setArrived(letIn), []) };
}

/** One event; asked again while something of it waits. */
export function useEvent(id: string) {
  const { api, environment } = useSigned();
  return useQuery({
    queryKey: ['event', environment, id],
    queryFn: ({ signal }) => answered(api.GET('/v1/events/{id}', { params: { path: { id } }, signal })),
    refetchInterval: ({ state }) => (state.data?.status === 'retrying' ? 5_000 : false),
  });
}

/** The payload of an event as bytes; only when `isAsked`. */
export function usePayload(id: string, isAsked: boolean) {
  const { environment } = useSigned();
  return useQuery({ queryKey: ['payload', environment, id], queryFn: ({ signal }) => payloadOf(environment, id, signal), enabled: isAsked, staleTime: Infinity, gcTime: 0 });
}

/** Names of destinations by their ids, as far as the newest hundred have them. */
export function useDestinationNames(): ReadonlyMap<string, Schemas['DestinationItem']> {
  const { api, environment } = useSigned();
  const { data } = useQuery({
    queryKey: ['destination-names', environment], staleTime: 30_000,
    queryFn: () => answered(api.GET('/v1/destinations', { params: { query: { limit: 100 } } })),
  });
  return useMemo(() => new Map(data?.data.map((each) => [each.id, each])), [data]);
}

/** Does one thing to many events, a few at a time, and tells how far it is. */
export async function forEach(ids: readonly string[], act: (id: string) => Promise<unknown>, told: (done: number, failed: number) => void): Promise<{ failed: number; fault: unknown }> {
  const waiting = [...ids];
  const state = { done: 0, failed: 0, fault: null as unknown };
  const work = async (): Promise<void> => {
    for (let id = waiting.shift(); id !== undefined; id = waiting.shift()) {
      try {
        await act(id);
      } catch (error) {
        state.failed += 1;
        state.fault = error;
      }
      state.done += 1;
      told(state.done, state.failed);
    }
  };
  await Promise.all(Array.from({ length: 4 }, work));
  return state;
}
