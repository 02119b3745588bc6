/** Texts about the columns of tables, and about undoing a change, in English. */
export const tablesEn = {
  'table.width-of':
    'Width of column {column}. Drag the border or press the arrow keys. Double-click or press Home to reset.',
  'table.width': '{px} pixels',
  undo: 'Undo',
  'undo.enabled': '{name} enabled',
  'undo.disabled': '{name} disabled',
  'undo.paused': '{name} paused',
  'undo.activated': '{name} activated',
  'undo.suppression-removed': '{email} removed from suppressions',
  'undo.suppressed': '{email} suppressed',
  'undo.subscribed': '{email} subscribed',
  'undo.unsubscribed': '{email} unsubscribed',
  'undo.subscription-removed': 'Subscription of {email} removed',
  'undo.topic-saved': '{name} saved',
  'undo.pending-canceled': 'Pending deliveries are canceled.',
  'undo.rejected': 'Change not saved. {reason}',
  'suppression.remove-unsubscribed':
    'The owner of this address unsubscribed. Send to it again only with their consent.',
  'shortcut.undo': 'Undo the last change',
} as const;
