import type { tablesEn } from '../en/tables';

/** Texts about the columns of tables, and about undoing a change, in German. */
export const tablesDe: Readonly<Record<keyof typeof tablesEn, string>> = {
  'table.width-of': 'Breite der Spalte {column}',
  'table.width': '{px} Pixel',
  'table.resize': 'Ziehen oder Pfeiltasten ändern die Breite. Doppelklick oder Pos1 setzt sie zurück.',
};
