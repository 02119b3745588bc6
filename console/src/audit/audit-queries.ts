import { useInfiniteQuery, useQueries } from '@tanstack/react-query';
import { useMemo } from 'react';
import { answered, type Api, type Schemas, serviceNowMs } from '../api/client';
import { useResourceNames } from '../session/ResourceName';
import { useSigned } from '../session/session';
import { asAuditQuery, type AuditFilters } from './audit-filters';
import { namesIn } from './audit-sentence';

export type Entry = Schemas['AuditItem'];

const PAGE = 50;
const LIST_PAGE = 100;
const LIST_PAGES_MAX = 10;
const NAMES_FRESH_MS = 60_000;

/** Queries the entries that match the filters, newest first, in pages. */
export function useAudit(filters: AuditFilters) {
  const { api, environment, can } = useSigned();
  return useInfiniteQuery({
    queryKey: ['audit', environment, filters],
    initialPageParam: null as { cursor: string; query: AuditFilters } | null,
    enabled: can('admin'),
    queryFn: async ({ pageParam, signal }) => {
      // A cursor is valid only for the filters of the first page. Relative times are therefore resolved once, for the
      // first page.
      const query = pageParam?.query ?? asAuditQuery(filters, serviceNowMs());
      const page = await answered(
        api.GET('/v1/audit', {
          params: { query: { ...query, limit: PAGE, ...(pageParam && { cursor: pageParam.cursor }) } },
          signal,
        }),
      );
      return { rows: page.data, next: page.next_cursor === null ? null : { cursor: page.next_cursor, query } };
    },
    getNextPageParam: ({ next }) => next,
  });
}

/** A resource with its name, and a text that distinguishes resources with the same name. */
export interface Named {
  id: string;
  name: string;
  detail?: string;
}

interface Page<T> {
  data: T[];
  next_cursor: string | null;
}
type ReadPage = (api: Api, query: { limit: number; cursor?: string }, signal: AbortSignal) => Promise<Page<Named>>;

async function named<T>(page: Promise<Page<T>>, of: (item: T) => Named): Promise<Page<Named>> {
  const { data, next_cursor: next } = await page;
  return { data: data.map(of), next_cursor: next };
}

const withName = ({ id, name }: Named): Named => ({ id, name });

/**
 * Functions that read one page of the resources of a type, with their names. Destinations, applications and endpoints,
 * of which there can be many, are looked up by id instead. The API has no names for resources of other types.
 */
const LISTS: Readonly<Record<string, ReadPage>> = {
  templates: (api, query, signal) => named(answered(api.GET('/v1/templates', { params: { query }, signal })), withName),
  topics: (api, query, signal) => named(answered(api.GET('/v1/topics', { params: { query }, signal })), withName),
  secrets: (api, query, signal) => named(answered(api.GET('/v1/secrets', { params: { query }, signal })), withName),
  keys: (api, query, signal) => named(answered(api.GET('/v1/keys', { params: { query }, signal })), withName),
  members: (api, query, signal) =>
    named(answered(api.GET('/v1/members', { params: { query }, signal })), ({ id, name, email }) => ({
      id,
      name: name === '' ? email : name,
      detail: email,
    })),
  domains: (api, query, signal) =>
    named(answered(api.GET('/v1/domains', { params: { query }, signal })), ({ id, domain }) => ({ id, name: domain })),
  aliases: (api, query, signal) =>
    named(answered(api.GET('/v1/aliases', { params: { query }, signal })), ({ id, address }) => ({
      id,
      name: address,
    })),
};

/** Types of resources that can be the actor of an entry. */
const ACTORS = ['members', 'keys'] as const;

async function readAll(read: ReadPage, api: Api, signal: AbortSignal): Promise<Named[]> {
  const found: Named[] = [];
  for (let cursor: string | null | undefined, pages = 0; cursor !== null && pages < LIST_PAGES_MAX; pages += 1) {
    const page: Page<Named> = await read(api, { limit: LIST_PAGE, ...(cursor !== undefined && { cursor }) }, signal);
    found.push(...page.data);
    cursor = page.next_cursor;
  }
  return found;
}

/**
 * Queries the names of the resources of some entries, and of all members and API keys. Takes a name from the entries if
 * the API no longer has the resource.
 */
export function useNames(entries: readonly Entry[]): {
  names: ReadonlyMap<string, string>;
  members: readonly Named[];
  keys: readonly Named[];
  /** Why the members or the API keys could not be loaded. Null if they were loaded. */
  fault: Error | null;
} {
  const { api, environment, can } = useSigned();
  const types = useMemo(
    () => [...new Set([...ACTORS, ...entries.flatMap(({ resource_type: type }) => type ?? [])])],
    [entries],
  );
  const known = types.flatMap((type) => {
    const read = LISTS[type];
    return read === undefined ? [] : [{ type, read }];
  });
  const lists = useQueries({
    queries: known.map(({ type, read }) => ({
      queryKey: ['audit-names', environment, type],
      enabled: can('admin'),
      staleTime: NAMES_FRESH_MS,
      retry: false,
      queryFn: ({ signal }: { signal: AbortSignal }) => readAll(read, api, signal),
    })),
  });
  const ids = useMemo(() => {
    const unlisted = entries.filter(({ resource_type: type }) => type !== null && LISTS[type] === undefined);
    return [...new Set(unlisted.flatMap(({ resource_id: id }) => id ?? []))];
  }, [entries]);
  const lookedUp = useResourceNames(ids);
  const names = namesIn(entries);
  for (const [id, name] of lookedUp) names.set(id, name);
  for (const { data = [] } of lists) for (const { id, name } of data) if (name !== '') names.set(id, name);
  const [members, keys] = ACTORS.map((type) => lists[known.findIndex((each) => each.type === type)]);
  return { names, members: members?.data ?? [], keys: keys?.data ?? [], fault: members?.error ?? keys?.error ?? null };
}
