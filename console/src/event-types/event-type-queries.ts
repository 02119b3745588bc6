import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { answered, type Schemas } from '../api/client';
import { useSigned } from '../session/session';
import type { EventTypeFilters } from './event-type-filters';

export type EventTypeItem = Schemas['EventTypeItem'];
export type EventTypeDetail = Schemas['EventTypeDetail'];
export type Imported = Schemas['OpenApiImported'];

const PAGE = 100;

/** Queries event types, newest first. */
export function useEventTypes(filters: EventTypeFilters) {
  const { api, environment } = useSigned();
  return useInfiniteQuery({
    queryKey: ['event-types', environment, filters],
    initialPageParam: undefined as string | undefined,
    queryFn: ({ pageParam: cursor, signal }) =>
      answered(
        api.GET('/v1/event-types', {
          params: { query: { limit: PAGE, ...filters, ...(cursor !== undefined && { cursor }) } },
          signal,
        }),
      ),
    getNextPageParam: ({ next_cursor: next }) => next ?? undefined,
  });
}

export function useEventType(name: string) {
  const { api, environment } = useSigned();
  return useQuery({
    queryKey: ['event-type', environment, name],
    queryFn: ({ signal }) => answered(api.GET('/v1/event-types/{name}', { params: { path: { name } }, signal })),
  });
}

/** Queries all schema versions of an event type, newest first. */
export function useVersions(name: string) {
  const { api, environment } = useSigned();
  return useInfiniteQuery({
    queryKey: ['event-type-versions', environment, name],
    initialPageParam: undefined as string | undefined,
    queryFn: ({ pageParam: cursor, signal }) =>
      answered(
        api.GET('/v1/event-types/{name}/versions', {
          params: { path: { name }, query: { limit: 20, ...(cursor !== undefined && { cursor }) } },
          signal,
        }),
      ),
    getNextPageParam: ({ next_cursor: next }) => next ?? undefined,
  });
}
