import { queryOptions, useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { answered, type Schemas } from '../api/client';
import type { Range } from '../kit/plot/range';
import { type Signed, useSigned } from '../session/session';

export type ApplicationDetail = Schemas['ApplicationDetail'];
export type OwnEndpoint = Schemas['ApplicationEndpointDetail'];

const PAGE = 50;

/** Queries applications, newest first, in pages, with the total number. */
export function useApplications(filters: { search?: string }) {
  const { api, environment } = useSigned();
  return useInfiniteQuery({
    queryKey: ['applications', environment, filters],
    initialPageParam: undefined as string | undefined,
    queryFn: ({ pageParam: cursor, signal }) =>
      answered(
        api.GET('/v1/app', {
          params: { query: { limit: PAGE, count: true, ...filters, ...(cursor !== undefined && { cursor }) } },
          signal,
        }),
      ),
    getNextPageParam: ({ next_cursor: next }) => next ?? undefined,
  });
}

/** Queries customers with failed delivery attempts in the last 24 hours, most failures first. */
export function useFailingApplications() {
  const { api, environment } = useSigned();
  return useQuery({
    queryKey: ['failing-applications', environment],
    refetchInterval: 30_000,
    queryFn: ({ signal }) => answered(api.GET('/v1/metrics/applications', { params: { query: { limit: 5 } }, signal })),
  });
}

export function useApplication(app: string) {
  const { api, environment } = useSigned();
  return useQuery({
    queryKey: ['application', environment, app],
    queryFn: ({ signal }) => answered(api.GET('/v1/app/{app}', { params: { path: { app } }, signal })),
  });
}

export function useApplicationOverview(application: string, range: Range) {
  const { api, environment } = useSigned();
  return useQuery({
    queryKey: ['application-overview', environment, application, range],
    refetchInterval: 10_000,
    queryFn: ({ signal }) =>
      answered(api.GET('/v1/metrics/overview', { params: { query: { application, range } }, signal })),
  });
}

/** Queries the newest 100 portal links of an application that have not expired. */
export function usePortalLinks(app: string) {
  const { api, environment } = useSigned();
  return useQuery({
    queryKey: ['portal-links', environment, app],
    queryFn: ({ signal }) =>
      answered(api.GET('/v1/app/{app}/portal', { params: { path: { app }, query: { limit: 100 } }, signal })),
  });
}

const CATALOGUE_PAGES_MAX = 20;

/** Queries the event types of the catalog that are not archived, up to 2,000. */
export function useCatalogue() {
  const { api, environment } = useSigned();
  return useQuery({
    queryKey: ['catalogue', environment],
    staleTime: 60_000,
    queryFn: async ({ signal }) => {
      const found: Schemas['EventTypeItem'][] = [];
      for (
        let cursor: string | null | undefined, pages = 0;
        cursor !== null && pages < CATALOGUE_PAGES_MAX;
        pages += 1
      ) {
        const page: Schemas['EventTypePage'] = await answered(
          api.GET('/v1/event-types', {
            params: { query: { limit: 100, ...(cursor !== undefined && { cursor }) } },
            signal,
          }),
        );
        found.push(...page.data.filter(({ archived }) => !archived));
        cursor = page.next_cursor;
      }
      return found;
    },
  });
}

/** Queries the messages sent to an application, newest first. */
export function useMessages(app: string) {
  const { api, environment } = useSigned();
  return useInfiniteQuery({
    queryKey: ['messages', environment, app],
    initialPageParam: undefined as string | undefined,
    queryFn: ({ pageParam: cursor, signal }) =>
      answered(
        api.GET('/v1/app/{app}/messages', {
          params: { path: { app }, query: { limit: PAGE, ...(cursor !== undefined && { cursor }) } },
          signal,
        }),
      ),
    getNextPageParam: ({ next_cursor: next }) => next ?? undefined,
    refetchInterval: ({ state }) => (state.data?.pages.length === 1 ? 5_000 : false),
  });
}

export function useOwnEndpoints(app: string) {
  const { api, environment } = useSigned();
  return useInfiniteQuery({
    queryKey: ['own-endpoints', environment, app],
    initialPageParam: undefined as string | undefined,
    queryFn: ({ pageParam: cursor, signal }) =>
      answered(
        api.GET('/v1/app/{app}/endpoints', {
          params: { path: { app }, query: { limit: PAGE, ...(cursor !== undefined && { cursor }) } },
          signal,
        }),
      ),
    getNextPageParam: ({ next_cursor: next }) => next ?? undefined,
  });
}

export function useOwnEndpoint(app: string, endpoint: string) {
  const { api, environment } = useSigned();
  return useQuery({
    queryKey: ['own-endpoint', environment, app, endpoint],
    refetchInterval: 10_000,
    queryFn: ({ signal }) =>
      answered(api.GET('/v1/app/{app}/endpoints/{endpoint}', { params: { path: { app, endpoint } }, signal })),
  });
}

/** Query for an endpoint's figures of the last day, and the number of its pending deliveries. */
export function statsQuery({ api, environment }: Pick<Signed, 'api' | 'environment'>, app: string, endpoint: string) {
  return queryOptions({
    queryKey: ['own-endpoint-stats', environment, app, endpoint],
    queryFn: ({ signal }) =>
      answered(api.GET('/v1/app/{app}/endpoints/{endpoint}/stats', { params: { path: { app, endpoint } }, signal })),
  });
}

export function useOwnEndpointStats(app: string, endpoint: string, isAsked = true) {
  return useQuery({ ...statsQuery(useSigned(), app, endpoint), enabled: isAsked, refetchInterval: 10_000 });
}

/** Queries an endpoint's figures of the last day, and its newest attempts. */
export function useOwnEndpointHistory(app: string, endpoint: string) {
  const { api, environment } = useSigned();
  const params = { path: { app, endpoint } };
  const stats = useOwnEndpointStats(app, endpoint);
  const attempts = useQuery({
    queryKey: ['own-endpoint-attempts', environment, app, endpoint],
    refetchInterval: 10_000,
    queryFn: ({ signal }) =>
      answered(
        api.GET('/v1/app/{app}/endpoints/{endpoint}/attempts', { params: { ...params, query: { limit: 20 } }, signal }),
      ),
  });
  return { stats: stats.data, attempts: attempts.data?.data, error: stats.error ?? attempts.error };
}
