import type { applicationsEn } from '../en/applications';

/** Texts of the application screens, in German. */
export const applicationsDe: Readonly<Record<keyof typeof applicationsEn, string>> = {
  'nav.applications': 'Anwendungen',
  'shortcut.applications': 'Anwendungen',
  'application.new': 'Neue Anwendung',
  'application.name': 'Name',
  'application.uid': 'UID',
  'application.uid-hint': 'Eigene ID für diesen Kunden. API-Aufrufe akzeptieren sie anstelle der Anwendungs-ID.',
  'application.search': 'Name oder UID beginnt mit',
  'application.tabs': 'Bereiche der Anwendung',
  'application.figures': 'Metriken',
  'application.endpoints': 'Endpunkte',
  'application.messages': 'Nachrichten',
  'application.repair': 'Erneut senden',
  'application.rename': 'Umbenennen',
  'application.preview': 'Portal-Vorschau',
  'application.preview-text':
    'Öffnet das Portal dieses Kunden für 15 Minuten in einem neuen Tab, schreibgeschützt und ohne Secrets. Das Audit-Log hält die Vorschau fest.',
  'application.preview-open': 'Öffnen',
  'application.events': 'Events anzeigen',
  'application.delete-text':
    'Endpunkte und ihre Secrets werden endgültig gelöscht. Ausstehende Zustellungen schlagen fehl. Gesendete Events bleiben erhalten.',
  'applications.none': 'Noch keine Anwendungen',
  'applications.none-text':
    'Eine Anwendung steht für einen Kunden und enthält dessen Endpunkte. Hier anlegen oder ein Event an eine neue UID senden.',
  'applications.no-match': 'Keine Anwendungen entsprechen dieser Suche.',
  'applications.failing': 'Fehlgeschlagen in den letzten 24 Stunden',
  'applications.rate': '{share} der Versuche fehlgeschlagen',
  'applications.failed-count':
    'Fehlgeschlagene Zustellungen: {failed} · Fehlgeschlagene Versuche mit Wiederholung: {retried} · Betroffene Endpunkte: {endpoints}',
  'figure.sent': 'Gesendet',
  'figure.delivered': 'Zugestellt',
  'figure.failed': 'Fehlgeschlagen',
  'figure.waiting': 'Ausstehend',
  'figure.latency': 'Latenz p50 / p95',
  'messages.none': 'Noch keine Nachrichten. Hier erscheinen Nachrichten an diese Anwendung.',
  'message.fan-out': 'Gesendet an',
  'message.nobody': 'Keine Abonnenten',
  'message.one': '1 Endpunkt',
  'message.many': '{count} Endpunkte',
  'message.channels': 'Kanäle',
  'message.sent': 'Zeit',
  'own-endpoint.new': 'Neuer Endpunkt',
  'own-endpoint.target': 'Ziel',
  'own-endpoint.types': 'Event-Typen',
  'own-endpoint.all-types': 'Alle',
  'own-endpoint.description': 'Beschreibung',
  'own-endpoint.secret-text':
    'Dieses Secret an den Kunden weitergeben, der damit die Webhooks prüft. Es lässt sich über die API erneut lesen.',
  'own-endpoint.day': 'Letzte 24 Stunden',
  'own-endpoint.attempt': 'Versuch',
  'own-endpoint.took': 'Dauer',
  'own-endpoint.recover': 'Fehlgeschlagene wiederholen',
  'own-endpoint.disable-text':
    'Der Endpunkt erhält keine Zustellungen, bis er aktiviert wird. Inzwischen gesendete Events schlagen fehl und lassen sich wiederholen.',
  'own-endpoint.pending-fail':
    'Ausstehende Zustellungen schlagen beim nächsten Versuch fehl, wenn der Endpunkt bis dahin deaktiviert bleibt.',
  'own-endpoint.test-text': 'Sendet ein Beispiel-Event. Die Antwort erscheint in der Liste der Versuche.',
  'own-endpoint.delete-text':
    'Der Endpunkt und sein Secret werden endgültig gelöscht. Ausstehende Zustellungen schlagen fehl.',
  'own-endpoints.none': 'Noch keine Endpunkte. Events an diese Anwendung werden gespeichert, aber nicht zugestellt.',
  'repair.recover': 'Fehlgeschlagene wiederholen',
  'repair.recover-text':
    'Startet einen Auftrag, der fehlgeschlagene und Dead-Letter-Zustellungen in diesem Zeitraum wiederholt.',
  'repair.replay': 'Alle Events erneut senden',
  'repair.replay-text':
    'Startet einen Auftrag, der alle Events in diesem Zeitraum unabhängig vom Status erneut sendet.',
  'repair.cancelled-too': 'Abgebrochene Zustellungen einschließen',
  'repair.in': 'Umgebung:',
};
