import { lastAt, type TextRows } from '../text/text-rows';
import type { JsonLines } from './json-lines';

/** The rows that are not hidden by folded objects and arrays. */
export interface ShownRows {
  count: number;
  /** Returns the row at an index among the shown rows. */
  at: (index: number) => number;
  /** Returns the index of a shown row. For a hidden row, returns the index of the last shown row before it. */
  indexOf: (row: number) => number;
}

/**
 * Finds the rows to show. Its cost depends only on the number of folds, because one megabyte of JSON can have a hundred
 * thousand rows.
 */
export function shownRows(
  rows: Pick<TextRows, 'count' | 'rowAt'>,
  lines: Pick<JsonLines, 'bounds' | 'folds'>,
  folded: ReadonlySet<number>,
): ShownRows {
  /** First row of each shown part, and its index among the shown rows. */
  const starts = [0];
  const indexes = [0];
  let closedAt = -1;
  let shown = 0;
  for (const line of [...folded].sort((a, b) => a - b)) {
    const close = lines.folds.get(line);
    // Skips a fold inside another fold.
    if (close === undefined || line <= closedAt) continue;
    closedAt = close;
    shown += rows.rowAt(lines.bounds(line)[1]) + 1 - (starts.at(-1) ?? 0);
    starts.push(rows.rowAt(lines.bounds(close)[1]) + 1);
    indexes.push(shown);
  }
  return {
    count: shown + rows.count - (starts.at(-1) ?? 0),
    at: (index) => {
      const part = lastAt(indexes, index);
      return (starts[part] ?? 0) + index - (indexes[part] ?? 0);
    },
    indexOf: (row) => {
      const part = lastAt(starts, row);
      const index = (indexes[part] ?? 0) + row - (starts[part] ?? 0);
      const next = indexes[part + 1];
      return next === undefined ? index : Math.min(index, next - 1);
    },
  };
}
