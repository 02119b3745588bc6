import { hashKey, type QueryClient, type QueryKey } from '@tanstack/react-query';

/** Cached data that a change affects: the data of all queries whose keys begin with `queryKey`. */
export interface ChangedView {
  queryKey: QueryKey;
  /** Returns the data after the change. */
  change: (data: unknown, queryKey: QueryKey) => unknown;
}

/** A change of one object. The pages show the result before the API has responded. */
export interface Change {
  /** Object to change. While a change of this object runs, further changes of it are ignored. */
  subject: string;
  views: readonly ChangedView[];
  /** Keys of other queries to refetch afterwards. */
  refreshed?: readonly QueryKey[];
  send: () => Promise<unknown>;
  /** Message after the API has accepted the change. */
  done: string;
}

/** A change that the user can undo. */
export interface ReversibleChange extends Change {
  inverse: Change;
}

interface Outcomes {
  onDone: () => void;
  onFault: (fault: unknown) => void;
}

const subjects = new Set<string>();
/** Number of running changes by key of a query. */
const running = new Map<string, number>();

/**
 * Shows a change at once and sends it. If the API rejects the change, restores the cached data. Refetches data only
 * after the last running change of this data, because an earlier response would lack the changes that still run.
 */
export async function perform(
  queries: QueryClient,
  change: ReversibleChange | Change,
  outcomes: Outcomes,
): Promise<void> {
  const { subject, views, refreshed = [] } = change;
  if (subjects.has(subject)) return;
  subjects.add(subject);
  const keys = [...views.map(({ queryKey }) => queryKey), ...refreshed];
  for (const key of keys) count(key, 1);
  // Cancels running queries, because their responses would show the state before the change.
  await Promise.all(views.map(({ queryKey }) => queries.cancelQueries({ queryKey })));
  const undo = apply(queries, views);
  try {
    await change.send();
    outcomes.onDone();
  } catch (fault) {
    undo();
    outcomes.onFault(fault);
  } finally {
    subjects.delete(subject);
    for (const key of keys) if (count(key, -1) === 0) void queries.invalidateQueries({ queryKey: key });
  }
}

/** Changes cached data. Returns a function that restores the data, but not data that was fetched in the meantime. */
function apply(queries: QueryClient, views: readonly ChangedView[]): () => void {
  const applied = views.flatMap(({ queryKey, change }) =>
    queries.getQueriesData({ queryKey }).flatMap(([key, before]) => {
      if (before === undefined) return [];
      return [{ key, before, after: queries.setQueryData<unknown>(key, change(before, key)) }];
    }),
  );
  return () => {
    for (const { key, before, after } of applied.reverse())
      if (queries.getQueryData(key) === after) queries.setQueryData(key, before);
  };
}

function count(key: QueryKey, by: number): number {
  const hash = hashKey(key);
  const number = (running.get(hash) ?? 0) + by;
  if (number === 0) running.delete(hash);
  else running.set(hash, number);
  return number;
}
