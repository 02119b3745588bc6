import { asQuery, readFilters } from './event-filters';

/** So many events are asked for at once. */
export const PAGE = 100;

/** What the list asks for first, as it stands in the API's address; null where that depends on the moment at which it is asked. */
export function firstPageQuery(search: URLSearchParams): URLSearchParams | null {
  const filters = readFilters(Object.fromEntries(search));
  if (filters.since !== undefined || filters.until !== undefined) return null;
  const entries = Object.entries(asQuery(filters, 0)).flatMap(([name, value]) =>
    [value].flat().map((each) => [name, each]),
  );
  return new URLSearchParams([...entries, ['limit', String(PAGE)]]);
}
