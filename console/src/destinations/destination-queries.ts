import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { answered, type Schemas, serviceNowMs } from '../api/client';
import { keptAcrossChoices } from '../api/kept-data';
import type { Range } from '../kit/plot/range';
import { useSigned } from '../session/session';
import { type DestinationFilters, FIGURES, figuresSince } from './destination-figures';
import { eventsWithErrors, type LastError, lastErrorIn } from './last-error';

export type DestinationDetail = Schemas['DestinationDetail'];

/** Queries the destinations that match the filters, newest first, in pages. */
export function useDestinations(filters: DestinationFilters) {
  const { api, environment } = useSigned();
  return useInfiniteQuery({
    ...keptAcrossChoices(['destinations', environment], filters),
    initialPageParam: undefined as string | undefined,
    queryFn: ({ pageParam: cursor, signal }) =>
      answered(
        api.GET('/v1/destinations', {
          params: { query: { ...filters, limit: 100, ...(cursor !== undefined && { cursor }) } },
          signal,
        }),
      ),
    getNextPageParam: ({ next_cursor: next }) => next ?? undefined,
  });
}

/** Queries one destination. Refetches regularly, because the destination's circuit breaker may open or close. */
export function useDestination(id: string, isAsked = true) {
  const { api, environment } = useSigned();
  return useQuery({
    queryKey: ['destination', environment, id],
    enabled: isAsked,
    refetchInterval: 10_000,
    queryFn: ({ signal }) => answered(api.GET('/v1/destinations/{id}', { params: { path: { id } }, signal })),
  });
}

/** Queries a destination's figures per time window. Refetches regularly, because the last window has not ended yet. */
export function useFigures(id: string, range: Range, isAsked = true) {
  const { api, environment } = useSigned();
  return useQuery({
    ...keptAcrossChoices(['figures', environment, id], range),
    enabled: isAsked,
    staleTime: 60_000,
    refetchInterval: 60_000,
    refetchOnWindowFocus: false,
    queryFn: ({ signal }) =>
      answered(
        api.GET('/v1/metrics', {
          params: { query: { key: id, window: FIGURES[range].window, since: figuresSince(range, serviceNowMs()) } },
          signal,
        }),
      ),
  });
}

const LAST_MAX = 10;
/** Maximum number of events that are read to find one with a failed attempt to the destination. */
const DETAILS_MAX = 3;

/** Queries the newest events sent to a destination. */
export function useLastDeliveries(id: string) {
  const { api, environment } = useSigned();
  return useQuery({
    queryKey: ['last-deliveries', environment, id],
    refetchInterval: 10_000,
    queryFn: async ({ signal }) =>
      (await answered(api.GET('/v1/events', { params: { query: { destination: id, limit: LAST_MAX } }, signal }))).data,
  });
}

/** Queries the last failed attempt to a destination, among its newest events and its newest undelivered events. */
export function useLastError(id: string) {
  const { api, environment } = useSigned();
  const { data: newest } = useLastDeliveries(id);
  return useQuery({
    ...keptAcrossChoices(['last-error', environment, id], newest?.map((each) => [each.id, each.attempt_count]) ?? null),
    enabled: newest !== undefined,
    refetchInterval: 30_000,
    queryFn: async ({ signal }): Promise<LastError | null> => {
      const { data: undelivered } = await answered(
        api.GET('/v1/events', {
          params: { query: { destination: id, status: ['retrying', 'dlq', 'failed'], limit: LAST_MAX } },
          signal,
        }),
      );
      for (const event of eventsWithErrors([...(newest ?? []), ...undelivered]).slice(0, DETAILS_MAX)) {
        const detail = await answered(api.GET('/v1/events/{id}', { params: { path: { id: event } }, signal }));
        const error = lastErrorIn(detail, id);
        if (error !== null) return error;
      }
      return null;
    },
  });
}
