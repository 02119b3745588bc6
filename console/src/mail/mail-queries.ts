import { useQuery } from '@tanstack/react-query';
import { answered, type Schemas, serviceNowMs } from '../api/client';
import { useSigned } from '../session/session';
import {
  type EmailFilters,
  emailQuery,
  type MessageFilters,
  messageQuery,
  type SuppressionFilters,
} from './mail-filters';
import { usePages } from './use-pages';

export type EmailDetail = Schemas['EmailDetail'];
export type Alias = Schemas['AliasItem'];
export type MessageDetail = Schemas['ReceivedMessageDetail'];
export type Suppression = Schemas['SuppressionItem'];

const PAGE = 100;

export function useEmails(filters: EmailFilters) {
  const { api, environment } = useSigned();
  return usePages(['emails', environment, filters], (cursor, signal) =>
    answered(
      api.GET('/v1/emails', {
        params: { query: { ...emailQuery(filters, serviceNowMs()), ...cursor, limit: PAGE } },
        signal,
      }),
    ),
  );
}

/** Queries one email without its content. Refetches often until it has a final state and its first attempt is recorded. */
export function useEmail(id: string) {
  const { api, environment } = useSigned();
  return useQuery({
    queryKey: ['email', environment, id],
    queryFn: ({ signal }) =>
      answered(api.GET('/v1/emails/{id}', { params: { path: { id }, query: { content: false } }, signal })),
    refetchInterval: ({ state: { data } }) =>
      data !== undefined &&
      data.status !== 'suppressed' &&
      (['sending', 'scheduled'].includes(data.status) || data.attempts.length === 0)
        ? 2_000
        : 30_000,
  });
}

/** Queries the content of an email. Sends no request before the email is composed. */
export function useEmailContent(id: string, isComposed: boolean) {
  const { api, environment } = useSigned();
  return useQuery({
    queryKey: ['email-content', environment, id],
    enabled: isComposed,
    staleTime: Infinity,
    gcTime: 0,
    queryFn: ({ signal }) => answered(api.GET('/v1/emails/{id}/content', { params: { path: { id } }, signal })),
  });
}

export function useSimulator() {
  const { api, environment } = useSigned();
  return useQuery({
    queryKey: ['simulator', environment],
    staleTime: Infinity,
    queryFn: () => answered(api.GET('/v1/emails/simulator')),
  });
}

export function useAliases() {
  const { api, environment } = useSigned();
  return usePages(['aliases', environment], (cursor, signal) =>
    answered(api.GET('/v1/aliases', { params: { query: { ...cursor, limit: PAGE } }, signal })),
  );
}

export function useAlias(alias: string) {
  const { api, environment } = useSigned();
  return useQuery({
    queryKey: ['alias', environment, alias],
    queryFn: ({ signal }) => answered(api.GET('/v1/aliases/{alias}', { params: { path: { alias } }, signal })),
  });
}

export function useMessages(alias: string, filters: MessageFilters) {
  const { api, environment } = useSigned();
  return usePages(['messages', environment, alias, filters], (cursor, signal) =>
    answered(
      api.GET('/v1/aliases/{alias}/messages', {
        params: { path: { alias }, query: { ...messageQuery(filters, serviceNowMs()), ...cursor, limit: PAGE } },
        signal,
      }),
    ),
  );
}

/** Queries one message. Refetches while the message is being processed or delivered. */
export function useMessage(alias: string, messageId: string) {
  const { api, environment } = useSigned();
  return useQuery({
    queryKey: ['message', environment, alias, messageId],
    gcTime: 0,
    queryFn: ({ signal }) =>
      answered(api.GET('/v1/aliases/{alias}/messages/{messageId}', { params: { path: { alias, messageId } }, signal })),
    refetchInterval: ({ state }) => (['received', 'retrying'].includes(state.data?.status ?? '') ? 5_000 : false),
  });
}

export function useSuppressions(filters: SuppressionFilters) {
  const { api, environment } = useSigned();
  return usePages(['suppressions', environment, filters], (cursor, signal) =>
    answered(api.GET('/v1/suppressions', { params: { query: { ...filters, ...cursor, limit: PAGE } }, signal })),
  );
}

/** Queries the suppressions of the given addresses. */
export function useSuppressionsOf(addresses: readonly string[]) {
  const { api, environment } = useSigned();
  return useQuery({
    queryKey: ['suppressions-of', environment, addresses],
    queryFn: async ({ signal }) => {
      const pages = await Promise.all(
        addresses.map((email) => answered(api.GET('/v1/suppressions', { params: { query: { email } }, signal }))),
      );
      return pages.flatMap(({ data }) => data);
    },
  });
}

/** Queries the newest received messages that reply to an email. */
export function useReplies(id: string) {
  const { api, environment } = useSigned();
  return useQuery({
    queryKey: ['email-replies', environment, id],
    staleTime: 30_000,
    queryFn: ({ signal }) =>
      answered(api.GET('/v1/emails/{id}/replies', { params: { path: { id }, query: { limit: 20 } }, signal })),
  });
}

/** Queries the domains that aliases can use. */
export function useMailDomains() {
  const { api, environment } = useSigned();
  return useQuery({
    queryKey: ['mail-domains', environment],
    staleTime: 30_000,
    queryFn: () => answered(api.GET('/v1/domains', { params: { query: { limit: PAGE } } })),
  });
}
