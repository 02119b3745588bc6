import './table.css';
import type { ReactNode } from 'react';
import { Icon } from '../icon/Icon';
import { type MenuItem, RowMenu } from '../menu/RowMenu';
import { t } from '../messages/t';
import { prefer, usePreferences } from '../preferences';

export interface Column<Row> {
  label: string;
  /** Returns the content of a cell. Text is isolated, because a right-to-left text must not reorder its neighbors. */
  cell: (row: Row) => ReactNode;
  /** Returns the full text of a cell that is not plain text, for the tooltip of a shortened cell. */
  full?: (row: Row) => string;
  /** Whether the column shares the space that the other columns leave, and shortens long text. */
  isFlexible?: boolean;
}

interface TableProps<Row> {
  label: string;
  rows: readonly Row[];
  columns: readonly Column<Row>[];
  keyOf: (row: Row) => string;
  /** Actions of a row, and the row's name for the button that opens them. */
  actions?: { nameOf: (row: Row) => string; itemsOf: (row: Row) => readonly MenuItem[] };
}

/** Table with one line per row and a header that stays visible. On phones, each row is a card. */
export function Table<Row>({ label, rows, columns, keyOf, actions }: TableProps<Row>): ReactNode {
  const { density } = usePreferences();
  const width = `${100 / Math.max(1, columns.filter(({ isFlexible }) => isFlexible).length)}%`;
  // The roles are explicit, because the layout of a card removes the roles that the elements have by default.
  return (
    <>
      <DensitySwitch />
      <div className={`table-region ${density}`} tabIndex={0} role="region" aria-label={label}>
        <table className="list" role="table" aria-label={label}>
          <thead role="rowgroup">
            <tr role="row">
              {columns.map((column) => (
                <th
                  key={column.label}
                  role="columnheader"
                  scope="col"
                  {...(column.isFlexible && { className: 'flexible', style: { width } })}
                >
                  {column.label}
                </th>
              ))}
              {actions && (
                <th role="columnheader" scope="col">
                  <span className="offscreen">{t('actions')}</span>
                </th>
              )}
            </tr>
          </thead>
          <tbody role="rowgroup">
            {rows.map((row) => (
              <tr key={keyOf(row)} role="row">
                {columns.map((column) => (
                  <Cell key={column.label} column={column} row={row} />
                ))}
                {actions && (
                  <td role="cell" className="row-actions">
                    <RowActions name={actions.nameOf(row)} items={actions.itemsOf(row)} />
                  </td>
                )}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </>
  );
}

function Cell<Row>({ column: { label, cell, full, isFlexible }, row }: { column: Column<Row>; row: Row }): ReactNode {
  const content = cell(row);
  const text = full?.(row) ?? (typeof content === 'string' ? content : undefined);
  return (
    <td role="cell" data-label={label} className={isFlexible ? 'flexible' : undefined}>
      <span className="cell" title={isFlexible ? text : undefined}>
        {typeof content === 'string' ? <bdi>{content}</bdi> : content}
      </span>
    </td>
  );
}

function RowActions({ name, items }: { name: string; items: readonly MenuItem[] }): ReactNode {
  return items.length === 0 ? null : <RowMenu name={t('table.actions-of', { name })} items={items} />;
}

function DensitySwitch(): ReactNode {
  const { density } = usePreferences();
  const isCompact = density === 'compact';
  return (
    <div className="table-bar">
      <button
        type="button"
        className="small"
        aria-pressed={isCompact}
        onClick={() => prefer({ density: isCompact ? 'comfortable' : 'compact' })}
      >
        <Icon name="rows" /> {t('table.compact')}
      </button>
    </div>
  );
}
