import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { answered, type Schemas } from '../api/client';
import { useSigned } from '../session/session';
import type { JobFilters } from './job-filters';

export type Job = Schemas['ReplayJobItem'];

const EVERY_MS = 5_000;

/** Returns whether a job is pending or running. */
export const isActive = ({ state }: Pick<Job, 'state'>): boolean => state === 'pending' || state === 'running';

/** Queries jobs, newest first, in pages. Refetches the first page while one of its jobs is active. */
export function useJobs({ state }: JobFilters) {
  const { api, environment } = useSigned();
  return useInfiniteQuery({
    queryKey: ['jobs', environment, state ?? null],
    initialPageParam: undefined as string | undefined,
    queryFn: ({ pageParam: cursor, signal }) =>
      answered(
        api.GET('/v1/replays', {
          params: { query: { limit: 50, ...(state && { state }), ...(cursor !== undefined && { cursor }) } },
          signal,
        }),
      ),
    getNextPageParam: ({ next_cursor: next }) => next ?? undefined,
    refetchInterval: ({ state: { data } }) =>
      data?.pages.length === 1 && data.pages[0]?.data.some(isActive) ? EVERY_MS : false,
  });
}

/** Queries one job. Refetches until it has ended. */
export function useJob(id: string) {
  const { api, environment } = useSigned();
  return useQuery({
    queryKey: ['job', environment, id],
    queryFn: ({ signal }) => answered(api.GET('/v1/replays/{id}', { params: { path: { id } }, signal })),
    refetchInterval: ({ state: { data } }) => (data !== undefined && isActive(data) ? EVERY_MS / 2 : false),
  });
}
