import { useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import { answered, type EventItem, payloadOf, type Schemas } from '../api/client';
import { useSigned } from '../session/session';
import { isEmail } from './response-status';

export type { EventItem };
export type EventDetail = Schemas['EventDetailItem'];
export type Retry = Schemas['RetryItem'];

/** Queries one event. Refetches while a delivery is waiting. */
export function useEvent(id: string) {
  const { api, environment } = useSigned();
  return useQuery({
    queryKey: ['event', environment, id],
    queryFn: ({ signal }) => answered(api.GET('/v1/events/{id}', { params: { path: { id } }, signal })),
    refetchInterval: ({ state }) => (state.data?.status === 'retrying' ? 5_000 : false),
  });
}

/** Queries the requests and responses of failed attempts. The keys consist of delivery and attempt number. */
export function useExchanges({ id, attempts }: EventDetail): ReadonlyMap<string, Schemas['ExchangeItem']> {
  const { api, environment } = useSigned();
  const failed = attempts.filter(
    ({ error, status }) => error !== null || status === null || status < 200 || status > 299,
  ).length;
  const { data } = useQuery({
    queryKey: ['exchanges', environment, id, attempts.length],
    enabled: failed > 0,
    staleTime: Infinity,
    queryFn: ({ signal }) => answered(api.GET('/v1/events/{id}/exchanges', { params: { path: { id } }, signal })),
  });
  return useMemo(() => new Map(data?.data.map((each) => [`${each.delivery} ${each.number}`, each])), [data]);
}

/** Queries the payload of an event as bytes, if `isAsked` is true. */
export function usePayload(id: string, isAsked: boolean) {
  const { environment } = useSigned();
  return useQuery({
    queryKey: ['payload', environment, id],
    queryFn: ({ signal }) => payloadOf(environment, id, signal),
    enabled: isAsked,
    staleTime: Infinity,
    gcTime: 0,
  });
}

/** Queries the newest hundred destinations. Returns a map from id to destination. */
export function useDestinationNames(): ReadonlyMap<string, Schemas['DestinationItem']> {
  const { api, environment } = useSigned();
  const { data } = useQuery({
    queryKey: ['destination-names', environment],
    staleTime: 30_000,
    queryFn: () => answered(api.GET('/v1/destinations', { params: { query: { limit: 100 } } })),
  });
  return useMemo(() => new Map(data?.data.map((each) => [each.id, each])), [data]);
}

/**
 * Queries the retry policy of a delivery's target. Returns null for a deleted target, and for a target without a retry
 * policy, such as an ad-hoc URL. The API does not return the internal destination of emails.
 */
export function useRetry(event: EventDetail, destination: string | undefined): Retry | null {
  const { application } = event;
  const { api, environment } = useSigned();
  const { data = null } = useQuery({
    queryKey: ['retry', environment, destination, application],
    staleTime: 60_000,
    retry: false,
    enabled:
      destination !== undefined &&
      !isEmail(event) &&
      (destination.startsWith('dst_') || (destination.startsWith('ep_') && application !== undefined)),
    queryFn: async () => {
      if (destination?.startsWith('dst_'))
        return (await answered(api.GET('/v1/destinations/{id}', { params: { path: { id: destination } } }))).retry;
      return (
        (
          await answered(
            api.GET('/v1/app/{app}/endpoints/{endpoint}', {
              params: { path: { app: application ?? '', endpoint: destination ?? '' } },
            }),
          )
        ).retry ?? null
      );
    },
  });
  return data;
}
