/** Texts about the columns of tables, and about undoing a change, in English. */
export const tablesEn = {
  'table.width-of': 'Width of column {column}',
  'table.width': '{px} pixels',
  'table.resize': 'Drag or use the arrow keys to change the width. Double-click or press Home to reset it.',
} as const;
