import { useQuery } from '@tanstack/react-query';
import { answered, type Schemas } from '../api/client';
import { useSigned } from '../session/session';
import type { TopicFilters } from './mail-filters';
import { usePages } from './use-pages';

export type Topic = Schemas['TopicItem'];
export type Subscription = Schemas['TopicSubscriptionItem'];

const PAGE = 100;

export function useTopics() {
  const { api, environment } = useSigned();
  return usePages(['topics', environment], (cursor, signal) =>
    answered(api.GET('/v1/topics', { params: { query: { ...cursor, limit: PAGE } }, signal })),
  );
}

export function useTopic(id: string) {
  const { api, environment } = useSigned();
  return useQuery({
    queryKey: ['topic', environment, id],
    queryFn: ({ signal }) => answered(api.GET('/v1/topics/{id}', { params: { path: { id } }, signal })),
  });
}

/** Queries the addresses that are explicitly subscribed to the topic or unsubscribed from it. */
export function useSubscriptions(id: string, filters: TopicFilters) {
  const { api, environment } = useSigned();
  return usePages(['topic-subscriptions', environment, id, filters], (cursor, signal) =>
    answered(
      api.GET('/v1/topics/{id}/subscriptions', {
        params: { path: { id }, query: { ...filters, ...cursor, limit: PAGE } },
        signal,
      }),
    ),
  );
}

/** Queries the subscription of one address. Sends no request for an empty address. */
export function useSubscription(id: string, address: string) {
  const { api, environment } = useSigned();
  return useQuery({
    queryKey: ['topic-subscription', environment, id, address],
    enabled: address !== '',
    retry: false,
    queryFn: ({ signal }) =>
      answered(api.GET('/v1/topics/{id}/subscriptions/{address}', { params: { path: { id, address } }, signal })),
  });
}
