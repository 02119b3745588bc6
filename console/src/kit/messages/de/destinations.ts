import type { destinationsEn } from '../en/destinations';

/** Texts about the figures, schedule, recovery and search of destinations, in German. */
export const destinationsDe: Readonly<Record<keyof typeof destinationsEn, string>> = {
  'destinations.search': 'Name beginnt mit',
  'destinations.any-state': 'Alle',
  'destinations.circuit': 'Circuit Breaker',
  'destinations.none-match': 'Keine Ziele entsprechen diesen Filtern.',
  'destinations.day': 'Letzte 24 Stunden',
  'destination.figures': 'Metriken',
  'destination.timeline': 'Wiederholungsplan',
  'destination.timeline-text':
    'Spätester Zeitpunkt jedes Versuchs, gerechnet ab dem ersten. Zufälliger Jitter verkürzt jede Pause.',
  'destination.attempt-first': 'sofort',
  'destination.attempt-after': 'nach {after}',
  'destination.attempt-wait': 'Pause ≤ {wait}',
  'destination.attempts-more': '{count} weitere im Abstand von bis zu {wait}',
  'destination.probe-at': 'Nächste Probe frühestens',
  'destination.probe-now': 'Probe läuft. Ohne Ergebnis startet die nächste ab',
  'destination.recover': 'Fehlgeschlagene wiederholen',
  'destination.recover-text': 'Startet einen Auftrag, der fehlgeschlagene Zustellungen wiederholt. Umgebung:',
  'destination.recover-since': 'Angenommen',
  'destination.recover-status': 'Status',
  'destination.recover-both': 'Fehlgeschlagen und Dead-Letter',
  'destination.recover-cancelled': 'Abgebrochene Zustellungen einschließen',
  'destination.cancel': 'Ausstehende abbrechen',
  'destination.cancel-text':
    'Bricht alle ausstehenden Zustellungen an dieses Ziel ab. Sie werden nicht wiederholt. Umgebung:',
  'destination.cancel-type': 'Event-Typ (leer für alle)',
  'destination.cancelled': 'Abgebrochene Zustellungen: {count}.',
};
