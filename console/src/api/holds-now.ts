import type { FetchQueryOptions, QueryClient, QueryKey } from '@tanstack/react-query';

/** Time for which a click waits for the response, in milliseconds. */
const WAIT_MS = 3_000;

/**
 * Fetches a query now, because its cached data may be old, and returns whether the data meets a condition. Returns true
 * if the request fails or takes more than three seconds, so that the caller asks the user for confirmation.
 */
export function holdsNow<T, Key extends QueryKey>(
  queries: QueryClient,
  query: FetchQueryOptions<T, Error, T, Key>,
  isMet: (data: T) => boolean,
): Promise<boolean> {
  const found = queries
    .fetchQuery({ ...query, staleTime: 0, retry: false, networkMode: 'always' })
    .then(isMet, () => true);
  const late = new Promise<boolean>((resolve) => setTimeout(() => resolve(true), WAIT_MS));
  return Promise.race([found, late]);
}
