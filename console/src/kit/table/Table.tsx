import './table.css';
import { type ReactNode, useMemo, useRef } from 'react';
import { type MenuItem, RowMenu } from '../menu/RowMenu';
import { t } from '../messages/t';
import { usePreferences } from '../preferences';
import { ColumnHandle, handleIds } from './ColumnHandle';
import { DensityButton } from './DensityButton';
import { showFullText } from './show-full-text';
import { type ColumnWidths, useColumnWidths } from './use-column-widths';
import { useFittedWidths } from './use-fitted-widths';

export interface Column<Row> {
  /** Name of the column in stored preferences. Unique in the table. */
  id: string;
  label: string;
  /**
   * Returns the content of a cell. The table isolates text, so that right-to-left text does not reorder its neighbors.
   */
  cell: (row: Row) => ReactNode;
  /** Returns the full text of a cell that is not plain text, for the tooltip of a shortened cell. */
  full?: (row: Row) => string;
  /** Whether the column shares the space that the other columns leave, and shortens long text. */
  isFlexible?: boolean;
  /** Whether long text is broken into lines instead of shortened. */
  wraps?: boolean;
  /** Whether the cells are counts, durations, sizes or percentages. These are aligned at the end of the column. */
  isNumeric?: boolean;
  /** Weight of a flexible column: with 2, it gets twice the space of the others. Default: 1. */
  weight?: number;
  /** Control for all rows, which the header shows instead of the label. The column is as narrow as its controls. */
  control?: ReactNode;
}

interface TableProps<Row> {
  /** Name of the list in stored preferences. */
  id: string;
  label: string;
  rows: readonly Row[];
  columns: readonly Column<Row>[];
  keyOf: (row: Row) => string;
  /** Actions of a row, and the row's name for the button that opens them. */
  actions?: { nameOf: (row: Row) => string; itemsOf: (row: Row) => readonly MenuItem[] };
}

/** How a column gets its width: from the user, from the space that the other columns leave, or from its content. */
type Look = 'sized' | 'flexible' | 'plain' | 'control';

/**
 * Table with one line per row, columns of adjustable width, and a header that stays visible. On phones, each row is a
 * card.
 */
export function Table<Row>({ id, label, rows, columns, keyOf, actions }: TableProps<Row>): ReactNode {
  const { density } = usePreferences();
  const region = useRef<HTMLDivElement>(null);
  const sizing = useColumnWidths(id);
  const sizable = (actions ? columns : columns.slice(0, -1)).filter(({ control }) => control === undefined);
  const lookOf = (column: Column<Row>): Look => {
    if (column.control !== undefined) return 'control';
    if (sizable.includes(column) && sizing.widths[column.id] !== undefined) return 'sized';
    return column.isFlexible ? 'flexible' : 'plain';
  };
  const looks = columns.map(lookOf);
  const shape = looks.join();
  const weights = columns.reduce((sum, { weight = 1 }, index) => sum + (looks[index] === 'flexible' ? weight : 0), 0);
  useFittedWidths(region, sizing.widths, shape);
  // Rows are memoized, because only the header changes while the user drags a column border.
  const body = useMemo(
    () =>
      rows.map((row) => (
        <tr key={keyOf(row)} role="row">
          {columns.map((column, index) => (
            <Cell key={column.id} column={column} look={looks[index] ?? 'plain'} row={row} />
          ))}
          {actions && (
            <td role="cell" className="row-actions">
              <RowActions name={actions.nameOf(row)} items={actions.itemsOf(row)} />
            </td>
          )}
        </tr>
      )),
    [rows, columns, shape, actions],
  );
  // The table roles are explicit, because the CSS that shows rows as cards removes the default roles.
  return (
    <>
      <div className="table-bar">
        <DensityButton />
      </div>
      <div
        ref={region}
        className={`table-region ${density}`}
        tabIndex={0}
        role="region"
        aria-label={label}
        aria-owns={handleIds(id, sizable)}
      >
        <table className={looks.includes('flexible') ? 'list' : 'list rigid'} role="table" aria-label={label}>
          <thead role="rowgroup">
            <tr role="row">
              {columns.map((column, index) => (
                <Head
                  key={column.id}
                  list={id}
                  column={column}
                  look={looks[index] ?? 'plain'}
                  share={(100 * (column.weight ?? 1)) / weights}
                  sizing={sizable.includes(column) ? sizing : null}
                />
              ))}
              {actions && (
                <th role="columnheader" scope="col">
                  <span className="offscreen">{t('actions')}</span>
                </th>
              )}
            </tr>
          </thead>
          <tbody role="rowgroup">{body}</tbody>
        </table>
      </div>
    </>
  );
}

function classOf(look: Look, isNumeric = false): string | undefined {
  const names = [...(look === 'plain' ? [] : [look]), ...(isNumeric ? ['numeric'] : [])];
  return names.length === 0 ? undefined : names.join(' ');
}

interface HeadProps {
  list: string;
  column: { id: string; label: string; isNumeric?: boolean; control?: ReactNode };
  look: Look;
  /** Share of the width of a flexible column, in percent. */
  share: number;
  /** Null for the last column, which has no border to drag. */
  sizing: ColumnWidths | null;
}

function Head({ list, column: { id, label, isNumeric, control }, look, share, sizing }: HeadProps): ReactNode {
  return (
    <th
      role="columnheader"
      scope="col"
      className={classOf(look, isNumeric)}
      data-column={sizing === null ? undefined : id}
      style={look === 'flexible' ? ({ '--share': `${share}%` } as object) : undefined}
    >
      {control ?? (
        <span className="column-label" title={look === 'sized' ? label : undefined}>
          {label}
        </span>
      )}
      {sizing !== null && (
        <ColumnHandle
          list={list}
          column={id}
          label={label}
          drag={sizing.drag}
          store={sizing.store}
          reset={sizing.reset}
        />
      )}
    </th>
  );
}

interface CellProps<Row> {
  column: Column<Row>;
  look: Look;
  row: Row;
}

function Cell<Row>({ column: { label, cell, full, wraps, isNumeric }, look, row }: CellProps<Row>): ReactNode {
  const content = cell(row);
  const text = full?.(row) ?? (typeof content === 'string' ? content : undefined);
  const isShortened = look === 'sized' || look === 'flexible';
  return (
    <td role="cell" data-label={look === 'control' ? undefined : label} className={classOf(look, isNumeric)}>
      <span
        className={wraps ? 'cell wrapped' : 'cell'}
        title={isShortened ? text : undefined}
        onMouseEnter={isShortened && text === undefined ? showFullText : undefined}
      >
        {typeof content === 'string' ? <bdi>{content}</bdi> : content}
      </span>
    </td>
  );
}

function RowActions({ name, items }: { name: string; items: readonly MenuItem[] }): ReactNode {
  return items.length === 0 ? null : <RowMenu name={t('table.actions-of', { name })} items={items} />;
}
