import { hashKey, type QueryKey } from '@tanstack/react-query';

/**
 * Returns the key of a query, and the data to show while it loads: that of the previous query, if only the choice
 * differs. A choice is a search text, a filter or a time range. Data of another subject is never shown.
 */
export function keptAcrossChoices(subject: QueryKey, choice: unknown) {
  return {
    queryKey: [...subject, choice],
    placeholderData: <T>(previous: T | undefined, query?: { queryKey: QueryKey }): T | undefined =>
      query !== undefined && hashKey(query.queryKey.slice(0, -1)) === hashKey(subject) ? previous : undefined,
  };
}
