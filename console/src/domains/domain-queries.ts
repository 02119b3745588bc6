import { useInfiniteQuery, useQuery, useQueryClient } from '@tanstack/react-query';
import { answered, type Schemas } from '../api/client';
import { useSigned } from '../session/session';

export type Domain = Schemas['DomainDetail'];
export type DomainRecord = Schemas['DomainRecordItem'];
export type DomainReputation = Schemas['DomainReputationDetail'];

/** Queries domains, newest first, in pages. */
export function useDomains() {
  const { api, environment } = useSigned();
  return useInfiniteQuery({
    queryKey: ['domains', environment],
    initialPageParam: undefined as string | undefined,
    queryFn: ({ pageParam: cursor, signal }) =>
      answered(
        api.GET('/v1/domains', { params: { query: { limit: 100, ...(cursor !== undefined && { cursor }) } }, signal }),
      ),
    getNextPageParam: ({ next_cursor: next }) => next ?? undefined,
  });
}

/** Queries one domain. Refetches while its DNS records are pending. */
export function useDomain(id: string) {
  const { api, environment } = useSigned();
  return useQuery({
    queryKey: ['domain', environment, id],
    queryFn: ({ signal }) => answered(api.GET('/v1/domains/{id}', { params: { path: { id } }, signal })),
    refetchInterval: ({ state }) => (state.data?.state === 'verified' ? 60_000 : 15_000),
  });
}

/** Queries the mail volume of a domain, with its bounces and complaints. */
export function useReputation(id: string) {
  const { api, environment } = useSigned();
  return useQuery({
    queryKey: ['domain-reputation', environment, id],
    refetchInterval: 60_000,
    queryFn: ({ signal }) => answered(api.GET('/v1/domains/{id}/reputation', { params: { path: { id } }, signal })),
  });
}

/** Queries the hosts on which endpoints receive requests. */
export function useIngestHosts() {
  const { api, environment } = useSigned();
  return useQuery({
    queryKey: ['ingest-hosts', environment],
    queryFn: ({ signal }) => answered(api.GET('/v1/ingest-domains', { signal })),
  });
}

/** Returns a function that updates the cache with a domain from the response to an API call. */
export function useKnownDomain(): (domain: Domain) => Promise<void> {
  const { environment } = useSigned();
  const queries = useQueryClient();
  return async (domain) => {
    queries.setQueryData(['domain', environment, domain.id], domain);
    await queries.invalidateQueries({ queryKey: ['domain-reputation', environment, domain.id] });
    await queries.invalidateQueries({ queryKey: ['domains', environment] });
    await queries.invalidateQueries({ queryKey: ['mail-domains', environment] });
    await queries.invalidateQueries({ queryKey: ['ingest-hosts', environment] });
  };
}
