import { useState } from 'react';
import { marked } from './marked';

/** Selection of rows of a list. Rows that disappear from the list are no longer selected. */
export function useSelection<Row extends { id: string }>(
  rows: readonly Row[],
): {
  selected: Row[];
  /** Selects or deselects a row. With `isRange`, includes all rows up to the row that was changed last. */
  mark: (id: string, isRange: boolean) => void;
  /** Selects all rows, or none if all are selected. */
  markAll: () => void;
  clear: () => void;
} {
  const [ids, setIds] = useState<ReadonlySet<string>>(new Set());
  const [last, setLast] = useState<string | null>(null);
  const order = rows.map(({ id }) => id);
  return {
    selected: rows.filter(({ id }) => ids.has(id)),
    mark: (id, isRange) => {
      setIds((now) => marked(now, order, id, isRange ? last : null));
      setLast(id);
    },
    markAll: () => setIds(order.every((id) => ids.has(id)) ? new Set() : new Set(order)),
    clear: () => setIds(new Set()),
  };
}
