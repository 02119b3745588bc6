import type { tablesEn } from '../en/tables';

/** Texts about the columns of tables, and about undoing a change, in German. */
export const tablesDe: Readonly<Record<keyof typeof tablesEn, string>> = {
  'table.width-of':
    'Breite der Spalte {column}. Die Grenze ziehen oder die Pfeiltasten drücken. Doppelklick oder Pos1 setzt die Breite zurück.',
  'table.width': '{px} Pixel',
  undo: 'Rückgängig',
  'undo.enabled': '{name} aktiviert',
  'undo.disabled': '{name} deaktiviert',
  'undo.paused': '{name} pausiert',
  'undo.activated': '{name} aktiviert',
  'undo.suppression-removed': 'Sperre von {email} aufgehoben',
  'undo.suppressed': '{email} gesperrt',
  'undo.subscribed': '{email} angemeldet',
  'undo.unsubscribed': '{email} abgemeldet',
  'undo.subscription-removed': 'Abonnement von {email} entfernt',
  'undo.topic-saved': '{name} gespeichert',
  'undo.pending-canceled': 'Ausstehende Zustellungen werden abgebrochen.',
  'undo.rejected': 'Änderung nicht gespeichert. {reason}',
  'suppression.remove-unsubscribed':
    'Wem diese Adresse gehört, hat sich abgemeldet. Nur mit Einwilligung wieder an sie senden.',
  'shortcut.undo': 'Die letzte Änderung rückgängig machen',
};
