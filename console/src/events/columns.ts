import type { MessageKey } from '../kit/messages/t';
import type { Widths } from '../kit/table/widths';
import { type EventFilters, readFilters } from './event-filters';

const CHECKBOX = '2.5rem';

/** Columns of the list, in display order. The type column is always shown, because it contains the row's link. */
export const COLUMNS = [
  { id: 'status', label: 'column.status', width: '8.25rem' },
  { id: 'type', label: 'column.type', width: 'minmax(8rem, 1.2fr)' },
  { id: 'target', label: 'column.target', width: 'minmax(8rem, 1.4fr)' },
  { id: 'attempts', label: 'column.attempts', width: '6rem', isNumeric: true },
  { id: 'answer', label: 'column.answer', width: '8.25rem' },
  { id: 'next', label: 'column.next', width: '9rem' },
  { id: 'received', label: 'column.received', width: '9.5rem' },
  { id: 'message', label: 'column.message', width: '16.5rem' },
  { id: 'id', label: 'column.id', width: '16.5rem' },
] as const satisfies readonly { id: string; label: MessageKey; width: string; isNumeric?: boolean }[];

export type ColumnId = (typeof COLUMNS)[number]['id'];

const NUMERIC: readonly ColumnId[] = COLUMNS.filter((column) => 'isNumeric' in column).map(({ id }) => id);

/** Returns whether the cells of a column are numbers, which are aligned at the end of the column. */
export function isNumeric(id: ColumnId): boolean {
  return NUMERIC.includes(id);
}

export const DEFAULT_COLUMNS: readonly ColumnId[] = [
  'status',
  'type',
  'target',
  'attempts',
  'answer',
  'next',
  'received',
];
/** Columns that are shown on a phone: two in each of the two lines of a row. */
export const NARROW_COLUMNS: readonly ColumnId[] = ['type', 'status', 'target', 'received'];

/** Query parameters of the list's URL: the filters, and the columns unless they are the default ones. */
export interface EventSearch extends EventFilters {
  columns?: string;
}

export function readSearch(search: Readonly<Record<string, unknown>>): EventSearch {
  const columns = typeof search['columns'] === 'string' ? asColumns(readColumns(search['columns'])) : undefined;
  return { ...readFilters(search), ...(columns !== undefined && { columns }) };
}

export function filtersOf({ columns: _columns, ...filters }: EventSearch): EventFilters {
  return filters;
}

export function columnsOf({ columns }: Pick<EventSearch, 'columns'>): readonly ColumnId[] {
  return columns === undefined ? DEFAULT_COLUMNS : readColumns(columns);
}

/** Returns the columns for the page's URL, or undefined for the default columns. */
export function asColumns(columns: readonly ColumnId[]): string | undefined {
  const said = columns.join(',');
  return said === DEFAULT_COLUMNS.join(',') ? undefined : said;
}

function readColumns(text: string): ColumnId[] {
  const said = text.split(',');
  return COLUMNS.map(({ id }) => id).filter((id) => id === 'type' || said.includes(id));
}

/**
 * Returns the grid columns of the list: the checkbox, and each column with the width that the user chose or its default
 * width. The last column takes the rest of the width if no other column is flexible.
 */
export function gridOf(columns: readonly ColumnId[], widths: Widths): string {
  const shown = COLUMNS.filter(({ id }) => columns.includes(id));
  const tracks = shown.map(({ id, width }, index) => {
    const px = index === shown.length - 1 ? undefined : widths[id];
    return px === undefined ? width : `${px}px`;
  });
  const last = tracks.pop();
  if (last === undefined) return CHECKBOX;
  const hasRest = [...tracks, last].some((track) => track.includes('fr'));
  return [CHECKBOX, ...tracks, hasRest ? last : `minmax(${last}, 1fr)`].join(' ');
}
