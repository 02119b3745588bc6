import { useQuery, useQueryClient } from '@tanstack/react-query';
import { answered, type Schemas } from '../api/client';
import { Fault } from '../api/fault';
import { keptAcrossChoices } from '../api/kept-data';
import type { BeatTask } from '../kit/beat';
import type { Range } from '../kit/plot/range';
import { useSigned } from '../session/session';

export type Overview = Schemas['OverviewItem'];
export type Concern = Schemas['ConcernItem'];
export type FailingTarget = Schemas['FailingTargetItem'];
export type Job = Schemas['ReplayJobItem'];

/** Query options for data that is loaded when the screen opens and then refetched only by `useBeat`. */
const BY_THE_BEAT = {
  staleTime: Infinity,
  refetchOnMount: 'always',
  refetchOnWindowFocus: false,
  refetchOnReconnect: false,
  retry: false,
} as const;
const JOBS_MAX = 20;

/** Queries all data of the overview. Refetches it with at most one call every five seconds. */
export function useOverview(range: Range) {
  const { api, environment: env } = useSigned();
  const overview = useQuery({
    ...BY_THE_BEAT,
    ...keptAcrossChoices(['overview', env], range),
    queryFn: ({ signal }) => answered(api.GET('/v1/metrics/overview', { params: { query: { range } }, signal })),
  });
  const attention = useQuery({
    ...BY_THE_BEAT,
    queryKey: ['attention', env],
    queryFn: ({ signal }) => answered(api.GET('/v1/attention', { signal })),
  });
  const targets = useQuery({
    ...BY_THE_BEAT,
    ...keptAcrossChoices(['failing-targets', env], range),
    queryFn: ({ signal }) =>
      answered(api.GET('/v1/metrics/targets', { params: { query: { range, limit: 5 } }, signal })),
  });
  const running = useQuery({
    ...BY_THE_BEAT,
    queryKey: ['running-jobs', env],
    queryFn: ({ signal }) =>
      answered(api.GET('/v1/replays', { params: { query: { state: 'running', limit: JOBS_MAX } }, signal })),
  });
  const [figures, concerns, failing, jobs] = [overview, attention, targets, running].map(
    ({ refetch }): BeatTask =>
      async () =>
        waitAfter((await refetch()).error),
  );
  return {
    overview,
    attention,
    targets,
    running,
    // A part that failed is not awaited again, because that would replace the other parts by placeholders.
    isLoading: [overview, attention, targets, running].some(
      ({ isLoading, errorUpdateCount }) => isLoading && errorUpdateCount === 0,
    ),
    tasks: [figures, concerns, figures, jobs, figures, failing].filter((task) => task !== undefined),
  };
}

/** Queries whether the environment has events and a destination. */
export function useFirstSteps(isAsked: boolean) {
  const { api, environment: env } = useSigned();
  const events = useQuery({
    ...BY_THE_BEAT,
    queryKey: ['first-event', env],
    enabled: isAsked,
    queryFn: async ({ signal }) =>
      (await answered(api.GET('/v1/events', { params: { query: { limit: 1 } }, signal }))).data[0] ?? null,
  });
  const destinations = useQuery({
    ...BY_THE_BEAT,
    queryKey: ['first-destination', env],
    enabled: isAsked,
    queryFn: async ({ signal }) =>
      (await answered(api.GET('/v1/destinations', { params: { query: { limit: 1 } }, signal }))).data[0] ?? null,
  });
  const tasks = [events, destinations].map(
    ({ refetch }): BeatTask =>
      async () =>
        waitAfter((await refetch()).error),
  );
  return {
    event: events.data ?? null,
    destination: destinations.data ?? null,
    isKnown: events.isSuccess && destinations.isSuccess,
    isLoading: events.isLoading || destinations.isLoading,
    tasks,
  };
}

/**
 * Returns a function that creates an API key for the first steps. The caller must show the key, because it is not
 * cached.
 */
export function useFirstKey(): () => Promise<string> {
  const { api, environment: env } = useSigned();
  const queries = useQueryClient();
  return async () => {
    const { key } = await answered(
      api.POST('/v1/keys', { body: { name: 'First steps', scope: 'write', expires_at: null } }),
    );
    await queries.invalidateQueries({ queryKey: ['keys', env] });
    return key;
  };
}

/** Returns the wait that the service requested, in milliseconds. */
function waitAfter(error: unknown): number {
  return error instanceof Fault && error.retryAfterSeconds !== null ? error.retryAfterSeconds * 1_000 : 0;
}
