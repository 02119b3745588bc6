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

/** Queries a destination. Data is undefined for an ad-hoc URL, and for an endpoint of an application. */
export function useDestination(id: string | undefined) {
  const { api, environment } = useSigned();
  return useQuery({
    queryKey: ['destination', environment, id],
    staleTime: 30_000,
    retry: false,
    enabled: id?.startsWith('dst_') === true,
    queryFn: ({ signal }) => answered(api.GET('/v1/destinations/{id}', { params: { path: { id: id ?? '' } }, signal })),
  });
}

/**
 * Queries the retry policy of a delivery's target. Returns null for a deleted target, and for a target without a retry
 * policy, such as an ad-hoc URL. The API does not return the internal destination of emails.
 */
export function useRetry(event: EventDetail, destination: string | undefined): Retry | null {
  const { application: app } = event;
  const { api, environment } = useSigned();
  const { data: listed } = useDestination(isEmail(event) ? undefined : destination);
  const { data: owned } = useQuery({
    queryKey: ['retry', environment, destination, app],
    staleTime: 60_000,
    retry: false,
    enabled: destination?.startsWith('ep_') === true && app !== undefined,
    queryFn: ({ signal }) =>
      answered(
        api.GET('/v1/app/{app}/endpoints/{endpoint}', {
          params: { path: { app: app ?? '', endpoint: destination ?? '' } },
          signal,
        }),
      ),
  });
  return listed?.retry ?? owned?.retry ?? null;
}
