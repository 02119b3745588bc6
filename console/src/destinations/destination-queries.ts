import { keepPreviousData, useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { answered, type Schemas, serviceNowMs } from '../api/client';
import { useSigned } from '../session/session';
import { type DestinationFilters, FIGURES, type FiguresRange, figuresSince } from './destination-figures';

export type DestinationDetail = Schemas['DestinationDetail'];

/** Queries the destinations that match the filters, newest first, in pages. */
export function useDestinations(filters: DestinationFilters) {
  const { api, environment } = useSigned();
  return useInfiniteQuery({
    queryKey: ['destinations', environment, filters],
    placeholderData: keepPreviousData,
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

/** Queries one destination. Refetches regularly, because the circuit breaker may open or close at any time. */
export function useDestination(id: string) {
  const { api, environment } = useSigned();
  return useQuery({
    queryKey: ['destination', environment, id],
    refetchInterval: 10_000,
    queryFn: ({ signal }) => answered(api.GET('/v1/destinations/{id}', { params: { path: { id } }, signal })),
  });
}

/**
 * Queries a destination's figures per time window. Refetches regularly, because the last window is still in progress.
 */
export function useFigures(id: string, range: FiguresRange) {
  const { api, environment } = useSigned();
  return useQuery({
    queryKey: ['figures', environment, id, range],
    staleTime: 60_000,
    refetchInterval: 60_000,
    refetchOnWindowFocus: false,
    placeholderData: keepPreviousData,
    queryFn: ({ signal }) =>
      answered(
        api.GET('/v1/metrics', {
          params: { query: { key: id, window: FIGURES[range].window, since: figuresSince(range, serviceNowMs()) } },
          signal,
        }),
      ),
  });
}
