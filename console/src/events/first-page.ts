import { asQuery, readFilters } from './event-filters';

/** Number of events per page. */
export const PAGE = 100;

/** Returns the query of the list's first request. Returns null if the query depends on the current time. */
export function firstPageQuery(search: URLSearchParams): URLSearchParams | null {
  const filters = readFilters(Object.fromEntries(search));
  if (filters.since !== undefined || filters.until !== undefined) return null;
  const entries = Object.entries(asQuery(filters, 0)).flatMap(([name, value]) =>
    [value].flat().map((each) => [name, String(each)]),
  );
  return new URLSearchParams([...entries, ['limit', String(PAGE)]]);
}
