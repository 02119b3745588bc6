/** As much of an event as the list must know to keep its rows apart. */
interface Row {
  id: string;
}

/** What arrived while the list was open. */
export interface Arrived<T extends Row> {
  /** Shown above the list, newest first. */
  shown: readonly T[];
  /** Waiting behind the button, newest first. */
  waiting: readonly T[];
  /** How many more wait that are not kept: the list must be loaded again to have them. */
  notKept: number;
  /** Newer states of rows, by id. */
  changed: ReadonlyMap<string, T>;
}

/** More than this nobody reads one by one: it is counted. */
const WAITING_MAX = 1_000;
const CHANGED_MAX = 5_000;

export const NOTHING_ARRIVED: Arrived<never> = { shown: [], waiting: [], notKept: 0, changed: new Map<string, never>() };

/** What the stream told since the last time, added to what it told before. `isReading` keeps new rows behind the button. */
export function arrive<T extends Row>(before: Arrived<T>, news: readonly { isNew: boolean; row: T }[], known: ReadonlySet<string>, isReading: boolean): Arrived<T> {
  const changed = new Map(before.changed);
  const held = new Set([...before.shown, ...before.waiting].map(({ id }) => id));
  const added: T[] = [];
  for (const { isNew, row } of news) {
    changed.delete(row.id);
    changed.set(row.id, row);
    if (!isNew || known.has(row.id) || held.has(row.id)) continue;
    held.add(row.id);
    added.unshift(row);
  }
  for (const id of changed.keys()) {
    if (changed.size <= CHANGED_MAX) break;
    changed.delete(id);
  }
  if (!isReading && before.waiting.length === 0 && before.notKept === 0) return { ...before, shown: [...added, ...before.shown], changed };
  const waiting = [...added, ...before.waiting];
  const kept = waiting.slice(0, WAITING_MAX);
  return { ...before, waiting: kept, notKept: before.notKept + waiting.length - kept.length, changed };
}

/** Shows what waited. */
export function letIn<T extends Row>(before: Arrived<T>): Arrived<T> {
  return { ...before, shown: [...before.waiting, ...before.shown], waiting: [] };
}

/** The rows of the list: what arrived, then the pages, each event once and in its newest state. */
export function rowsOf<T extends Row>({ shown, changed }: Arrived<T>, pages: readonly (readonly T[])[]): T[] {
  const seen = new Set<string>();
  const rows: T[] = [];
  for (const list of [shown, ...pages]) {
    for (const row of list) {
      if (seen.has(row.id)) continue;
      seen.add(row.id);
      rows.push(changed.get(row.id) ?? row);
    }
  }
  return rows;
}
