import { useInfiniteQuery, useQuery, useQueryClient } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { answered, type Schemas, serviceNowMs } from '../api/client';
import { keptAcrossChoices } from '../api/kept-data';
import { useSigned } from '../session/session';
import { asRequestQuery, type EndpointFilters, type RequestFilters } from './endpoint-filters';

export type EndpointItem = Schemas['EndpointItem'];
export type EndpointDetail = Schemas['EndpointDetail'];
export type RequestItem = Schemas['RequestItem'];
export type RequestDetail = Schemas['RequestDetailItem'];
export type Preset = Schemas['PresetItem'];
export type Route = Schemas['RouteItem'];
export type TrialDraft = Omit<Schemas['TrialBody'], 'request'>;
export type TrialResult = Schemas['TrialResult'];
export type EndpointChanges = Schemas['EndpointChangesBody'];

const PAGE = 50;
/** Number of the newest requests among which the user can select one to test settings. */
const OFFERED = 20;

/** Queries endpoints, newest first, in pages, with the total number. */
export function useEndpoints(filters: EndpointFilters) {
  const { api, environment } = useSigned();
  return useInfiniteQuery({
    queryKey: ['endpoints', environment, filters],
    initialPageParam: undefined as string | undefined,
    queryFn: ({ pageParam: cursor, signal }) =>
      answered(
        api.GET('/v1/endpoints', {
          params: { query: { limit: PAGE, count: true, ...filters, ...(cursor !== undefined && { cursor }) } },
          signal,
        }),
      ),
    getNextPageParam: ({ next_cursor: next }) => next ?? undefined,
  });
}

export function useEndpoint(id: string) {
  const { api, environment } = useSigned();
  return useQuery({
    queryKey: ['endpoint', environment, id],
    queryFn: ({ signal }) => answered(api.GET('/v1/endpoints/{id}', { params: { path: { id } }, signal })),
  });
}

/** Returns a function that changes an endpoint and refreshes its cached data. */
export function useChangeEndpoint(id: string): (changes: EndpointChanges) => Promise<EndpointDetail> {
  const { api, environment } = useSigned();
  const queries = useQueryClient();
  return async (changes) => {
    const changed = await answered(api.PATCH('/v1/endpoints/{id}', { params: { path: { id } }, body: changes }));
    queries.setQueryData(['endpoint', environment, id], changed);
    await queries.invalidateQueries({ queryKey: ['endpoints', environment] });
    return changed;
  };
}

/** Queries the presets of all providers. */
export function usePresetQuery() {
  const { api } = useSigned();
  return useQuery({
    queryKey: ['presets'],
    staleTime: Infinity,
    queryFn: () => answered(api.GET('/v1/presets')),
  });
}

/** Returns the presets of all providers. Empty until they are loaded. */
export function usePresets(): readonly Preset[] {
  return usePresetQuery().data?.data ?? [];
}

/** Queries the hosts on which endpoints can receive requests. */
export function useIngestDomains() {
  const { api, environment } = useSigned();
  return useQuery({
    queryKey: ['ingest-domains', environment],
    staleTime: 60_000,
    queryFn: () => answered(api.GET('/v1/ingest-domains')),
  });
}

/** Queries the requests that an endpoint received, newest first. New requests appear within a few seconds. */
export function useRequests(id: string, filters: RequestFilters) {
  const { api, environment } = useSigned();
  return useInfiniteQuery({
    queryKey: ['requests', environment, id, filters],
    initialPageParam: undefined as (RequestFilters & { cursor?: string }) | undefined,
    queryFn: async ({ pageParam, signal }) => {
      // Relative times are resolved only for the first page, because a cursor is valid only for the query of that page.
      const { cursor, ...asked } = pageParam ?? { ...asRequestQuery(filters, serviceNowMs()), cursor: undefined };
      const query = { limit: PAGE, ...asked, ...(cursor !== undefined && { cursor }) };
      const { data, next_cursor: next } = await answered(
        api.GET('/v1/endpoints/{id}/requests', { params: { path: { id }, query }, signal }),
      );
      return { data, next: next === null ? undefined : { ...asked, cursor: next } };
    },
    getNextPageParam: ({ next }) => next,
    refetchInterval: ({ state }) => (state.data?.pages.length === 1 ? 5_000 : false),
  });
}

export function useRequest(id: string, requestId: string) {
  const { api, environment } = useSigned();
  return useQuery({
    queryKey: ['request', environment, id, requestId],
    enabled: requestId !== '',
    queryFn: ({ signal }) =>
      answered(api.GET('/v1/endpoints/{id}/requests/{requestId}', { params: { path: { id, requestId } }, signal })),
  });
}

/** Queries the newest requests of an endpoint. The user can test settings on one of them. */
export function useNewestRequests(id: string) {
  const { api, environment } = useSigned();
  return useQuery({
    queryKey: ['newest-requests', environment, id],
    staleTime: 10_000,
    queryFn: ({ signal }) =>
      answered(api.GET('/v1/endpoints/{id}/requests', { params: { path: { id }, query: { limit: OFFERED } }, signal })),
  });
}

/**
 * Queries the result of processing a stored request with draft settings. Sends the query shortly after the last change
 * to the draft. Sends no query without a draft.
 */
export function useTrial(id: string, requestId: string, draft: TrialDraft | null) {
  const { api, environment } = useSigned();
  const settled = useSettled(draft === null ? null : JSON.stringify(draft));
  return useQuery({
    ...keptAcrossChoices(['trial', environment, id, requestId], settled),
    enabled: settled !== null && requestId !== '',
    gcTime: 0,
    retry: false,
    queryFn: ({ signal }) =>
      answered(
        api.POST('/v1/endpoints/{id}/trial', {
          params: { path: { id } },
          body: { request: requestId, ...(JSON.parse(settled ?? '{}') as TrialDraft) },
          signal,
        }),
      ),
  });
}

/** Queries the number of requests that were not routed for the given reason and can be released. */
export function useSetAside(id: string, status: Schemas['ReleaseBody']['status']) {
  const { api, environment } = useSigned();
  return useQuery<Schemas['ReleaseDryRunResult']>({
    queryKey: ['set-aside', environment, id, status],
    retry: false,
    // Refetches while requests can be released, because a release runs as a job and lowers the number of these
    // requests.
    refetchInterval: ({ state }) => ((state.data?.replayed ?? 0) > 0 ? 10_000 : false),
    queryFn: async ({ signal }): Promise<Schemas['ReleaseDryRunResult']> => {
      const result = await answered(
        api.POST('/v1/endpoints/{id}/requests/replay', {
          params: { path: { id } },
          body: { status, dry_run: true },
          signal,
        }),
      );
      return result as Schemas['ReleaseDryRunResult'];
    },
  });
}

const SETTLED_MS = 400;

function useSettled<T>(value: T): T {
  const [settled, setSettled] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(value), SETTLED_MS);
    return () => clearTimeout(timer);
  }, [value]);
  return settled;
}
