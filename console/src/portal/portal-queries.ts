import { keepPreviousData, useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { answered, type Schemas } from '../api/client';
import { portalApi } from '../api/portal';
import { usePortal } from './context';

export type Endpoint = Schemas['ApplicationEndpointDetail'];
export type Delivery = Schemas['EventDetailItem'];
export type EventType = Schemas['EventTypePage']['data'][number];
/** Filters of the delivery list by state. */
export type Shown = '' | 'delivered' | 'retrying' | 'failed,dlq';

/** Refetch interval while the page is visible. */
const REFRESH_MS = 5_000;
const PAGE = 50;
/** Maximum number of pages of event types to load. For further types, the user can type patterns. */
const TYPE_PAGES_MAX = 5;

/** Queries the endpoints of the application, newest first, in pages. */
export function useEndpoints() {
  const { app } = usePortal();
  return useInfiniteQuery({
    queryKey: ['endpoints'],
    initialPageParam: '',
    queryFn: ({ pageParam: cursor }) =>
      answered(
        portalApi.GET('/v1/app/{app}/endpoints', {
          params: { path: { app }, query: { limit: PAGE, ...(cursor !== '' && { cursor }) } },
        }),
      ),
    getNextPageParam: ({ next_cursor: next }) => next ?? undefined,
    refetchInterval: ({ state }) => ((state.data?.pages.length ?? 1) > 1 ? false : 4 * REFRESH_MS),
  });
}

/** Queries one endpoint, if `isAsked` is true. */
export function useEndpoint(endpoint: string, isAsked = true) {
  const { app } = usePortal();
  return useQuery({
    queryKey: ['endpoint', endpoint],
    enabled: isAsked,
    queryFn: () =>
      answered(portalApi.GET('/v1/app/{app}/endpoints/{endpoint}', { params: { path: { app, endpoint } } })),
    refetchInterval: ({ state }) => (state.error === null ? 2 * REFRESH_MS : false),
  });
}

/**
 * Queries an endpoint, from the loaded pages of the list if it is in one of them. Returns undefined while it is loading,
 * and null if it does not exist.
 */
export function useListedEndpoint(id: string | null): Endpoint | null | undefined {
  const { data, hasNextPage } = useEndpoints();
  const listed = data?.pages.flatMap((page) => page.data).find((each) => each.id === id);
  const isElsewhere = id !== null && listed === undefined && hasNextPage;
  const { data: other, isError } = useEndpoint(id ?? '', isElsewhere);
  if (listed !== undefined) return listed;
  if (isElsewhere) return isError ? null : other;
  return data === undefined ? undefined : null;
}

/** Queries the metrics of the last 24 hours of one endpoint, if `isAsked` is true. */
export function useStats(endpoint: string, isAsked: boolean) {
  const { app } = usePortal();
  return useQuery({
    queryKey: ['stats', endpoint],
    enabled: isAsked,
    queryFn: () =>
      answered(portalApi.GET('/v1/app/{app}/endpoints/{endpoint}/stats', { params: { path: { app, endpoint } } })),
    refetchInterval: 4 * REFRESH_MS,
  });
}

/** Queries deliveries, newest first. */
export function useDeliveries(status: Shown, endpoint: string) {
  const { app } = usePortal();
  return useInfiniteQuery({
    queryKey: ['deliveries', status, endpoint],
    initialPageParam: '',
    queryFn: ({ pageParam }) =>
      answered(
        portalApi.GET('/v1/app/{app}/events', {
          params: {
            path: { app },
            query: {
              limit: PAGE,
              ...(status !== '' && { status: status.split(',') as ('failed' | 'dlq')[] }),
              ...(endpoint !== '' && { endpoint }),
              ...(pageParam !== '' && { cursor: pageParam }),
            },
          },
          querySerializer: { array: { style: 'form', explode: false } },
        }),
      ),
    getNextPageParam: ({ next_cursor: next }) => next ?? undefined,
    placeholderData: keepPreviousData,
    // Stops refetching when the user loads more pages, so that the list does not change while the user reads it.
    refetchInterval: ({ state }) => ((state.data?.pages.length ?? 1) > 1 ? false : REFRESH_MS),
  });
}

export function useDelivery(event: string) {
  const { app } = usePortal();
  return useQuery({
    queryKey: ['delivery', event],
    queryFn: () =>
      answered(
        portalApi.GET('/v1/app/{app}/events/{event}', {
          params: { path: { app, event } },
          parseAs: 'text',
        }) as unknown as Promise<{ data?: string; response: Response; error?: unknown }>,
      ).then((text) => ({ text, event: JSON.parse(text) as Delivery })),
    refetchInterval: ({ state }) =>
      state.data === undefined || state.data.event.status === 'retrying' ? REFRESH_MS : 4 * REFRESH_MS,
  });
}

/** Queries the event types, without archived ones. */
export function useEventTypes() {
  return useQuery({
    queryKey: ['types'],
    staleTime: 60_000,
    queryFn: async () => {
      const found: EventType[] = [];
      for (let cursor: string | null | undefined, pages = 0; cursor !== null && pages < TYPE_PAGES_MAX; pages += 1) {
        const page: { data: EventType[]; next_cursor: string | null } = await answered(
          portalApi.GET('/v1/event-types', {
            params: { query: { limit: 100, ...(cursor !== undefined && { cursor }) } },
          }),
        );
        found.push(...page.data);
        cursor = page.next_cursor;
      }
      return found;
    },
  });
}

export function useEventType(name: string, isWanted: boolean) {
  return useQuery({
    queryKey: ['type', name],
    enabled: isWanted,
    staleTime: 60_000,
    queryFn: () => answered(portalApi.GET('/v1/event-types/{name}', { params: { path: { name } } })),
  });
}
