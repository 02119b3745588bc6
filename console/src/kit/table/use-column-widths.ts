import { useMemo, useState } from 'react';
import { prefer, preferences, usePreferences } from '../preferences';
import { clampWidth, type Widths } from './widths';

const NONE: Widths = {};

export interface ColumnWidths {
  /** Stored widths, with the width of the column that the user drags. */
  widths: Widths;
  /** Changes a width while the user drags. Null ends the drag without a change. */
  drag: (column: string, px: number | null) => void;
  /** Stores a width for later visits. */
  store: (column: string, px: number) => void;
  /** Gives a column its default width. */
  reset: (column: string) => void;
}

/** Returns the widths of a list's columns in this browser, and functions that change them. */
export function useColumnWidths(list: string): ColumnWidths {
  const stored = usePreferences().columnWidths[list] ?? NONE;
  const [dragged, setDragged] = useState<Widths>(NONE);
  const widths = useMemo(() => ({ ...stored, ...dragged }), [stored, dragged]);
  const keep = (changed: Widths): void => {
    setDragged(NONE);
    prefer({ columnWidths: { ...preferences().columnWidths, [list]: changed } });
  };
  return {
    widths,
    drag: (column, px) => setDragged(px === null ? NONE : { [column]: clampWidth(px) }),
    store: (column, px) => keep({ ...stored, [column]: clampWidth(px) }),
    reset: (column) => keep(Object.fromEntries(Object.entries(stored).filter(([other]) => other !== column))),
  };
}
