import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { answered, type Schemas } from '../api/client';
import { useSigned } from '../session/session';

export type DestinationItem = Schemas['DestinationItem'];
export type DestinationDetail = Schemas['DestinationDetail'];

/** Destinations, newest first, a page at a time. */
export function useDestinations() {
  const { api, environment } = useSigned();
  return useInfiniteQuery({
    queryKey: ['destinations', environment],
    initialPageParam: undefined as string | undefined,
    queryFn: ({ pageParam: cursor, signal }) => answered(api.GET('/v1/destinations', { params: { query: { limit: 100, ...(cursor !== undefined && { cursor }) } }, signal })),
    getNextPageParam: ({ next_cursor: next }) => next ?? undefined,
  });
}

/** One destination; its circuit opens and closes while one looks. */
export function useDestination(id: string) {
  const { api, environment } = useSigned();
  return useQuery({
    queryKey: ['destination', environment, id], refetchInterval: 10_000,
    queryFn: ({ signal }) => answered(api.GET('/v1/destinations/{id}', { params: { path: { id } }, signal })),
  });
}
