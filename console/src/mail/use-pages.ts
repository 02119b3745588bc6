import { useInfiniteQuery } from '@tanstack/react-query';

const REFRESH_MS = 10_000;

interface Page<Row> {
  data: Row[];
  next_cursor: string | null;
}

/** Queries a list page by page. Refetches periodically as long as only the first page is loaded. */
export function usePages<Row>(
  queryKey: readonly unknown[],
  ask: (cursor: { cursor?: string }, signal: AbortSignal) => Promise<Page<Row>>,
) {
  const pages = useInfiniteQuery({
    queryKey,
    initialPageParam: undefined as string | undefined,
    queryFn: ({ pageParam: cursor, signal }) => ask(cursor === undefined ? {} : { cursor }, signal),
    getNextPageParam: ({ next_cursor: next }) => next ?? undefined,
    refetchInterval: ({ state }) => (state.data?.pages.length === 1 ? REFRESH_MS : false),
  });
  return { ...pages, rows: pages.data?.pages.flatMap(({ data }) => data) ?? [] };
}
