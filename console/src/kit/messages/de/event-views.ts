import type { eventViewsEn } from '../en/event-views';

/** Texts about searching events, their timeline, replays to another destination, and JSON views, in German. */
export const eventViewsDe: Readonly<Record<keyof typeof eventViewsEn, string>> = {
  'search-any': 'ID oder Typ',
  'search-any.hint':
    'Genaue ID von Event, Nachricht, Anfrage oder Zustellung, webhook-id oder Zustellungs-ID des Anbieters. Anderer Text ist ein genauer Event-Typ.',
  'search-any.event': 'Sucht das Event mit dieser ID.',
  'search-any.delivery': 'Sucht das Event dieser Zustellung.',
  'search-any.message': 'Sucht die Events dieser Nachricht, auch als webhook-id bekannt.',
  'search-any.request': 'Sucht das Event dieser empfangenen Anfrage.',
  'search-any.bare': 'Sucht das Event mit dieser ID, ohne das Präfix evt_.',
  'search-any.uuid':
    'Sucht das Event, dessen ID in der Datenbank diese UUID ist. Für die Zustellungs-ID eines Anbieters den gleichnamigen Filter verwenden.',
  'search-any.destination': 'Sucht die Events, die an dieses Ziel gesendet wurden.',
  'search-any.url': 'Sucht die Events, die an diese URL gesendet wurden.',
  'search-any.application': 'Sucht die Events, die an diese Anwendung gesendet wurden.',
  'search-any.endpoint': 'Sucht die Events dieses Endpunkts.',
  'search-any.provider':
    'Keine vollständige ID dieses Dienstes. Sucht die empfangenen Events mit dieser Zustellungs-ID des Anbieters.',
  'search-any.provider-uuid': 'Sucht die empfangenen Events mit dieser Zustellungs-ID des Anbieters.',
  'search-any.type':
    'Sucht die Events mit genau diesem Typ. Für die Zustellungs-ID eines Anbieters den gleichnamigen Filter verwenden.',
  'filter.error.status': 'Status der Antwort',
  'filter.error.none': 'Keine Antwort',
  timeline: 'Verlauf',
  'timeline.accepted': 'Angenommen',
  'timeline.next': 'Nächster Versuch',
  'timeline.now': 'Versuch läuft',
  'timeline.probe': 'Nächste Probe',
  'timeline.probing': 'Probe läuft',
  'timeline.circuit': 'Circuit geöffnet: Das Ziel antwortet nicht. Das Warten verbraucht keine Versuche.',
  'timeline.available': 'Der Konsument ruft das Event über die Pull-API ab.',
  'timeline.dlq': 'Keine weiteren Versuche.',
  'timeline.to': 'an',
  'timeline.details': 'Details',
  'timeline.curl': 'Anfrage als curl kopieren',
  'timeline.more': 'Alle {count} Schritte anzeigen',
  'timeline.schedule-failed': 'fehlgeschlagen',
  'status.available': 'Abrufbereit',
  'status.superseded': 'Ersetzt',
  'explain.available': 'Abrufbereit. „Pull-Consumer“ zeigt, wie weit jeder Konsument gelesen hat.',
  'replay-to': 'Senden an',
  'replay-to.original': 'Ursprüngliche Ziele',
  'replay-to.other': 'Ein Ziel',
  'replay-to.event': 'Dieses Event an ein Ziel senden in',
  'replay-to.hint':
    'Ein ursprüngliches Ziel erhält eine Wiederholung mit derselben webhook-id. Jedes andere Ziel und jede URL erhält eine Kopie als neues Event.',
  'replay-to.not-object':
    'Nur ein JSON-Objekt lässt sich an ein anderes Ziel senden. Dieser Payload ist etwas anderes.',
  'json.fold-all': 'Alle einklappen',
  'json.unfold-all': 'Alle ausklappen',
  'json.object': 'Objekt, Zeilen {from} bis {to}',
  'json.array': 'Array, Zeilen {from} bis {to}',
  'json.cut': '{count} Zeilen',
  'json.plain': 'Farben sind in dieser Ansicht für große Payloads aus.',
};
