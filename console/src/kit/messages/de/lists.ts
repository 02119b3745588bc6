import type { listsEn } from '../en/lists';

/** Texts about tables, empty lists, messages after actions, and the API calls of a page, in German. */
export const listsDe: Readonly<Record<keyof typeof listsEn, string>> = {
  'table.compact': 'Kompakte Zeilen',
  'table.actions-of': 'Aktionen für {name}',
  toasts: 'Benachrichtigungen',
  'docs.api': 'API-Referenz',
  'keys.none': 'Noch keine API-Schlüssel',
  'keys.none-text':
    'Ein API-Schlüssel authentifiziert eigenen Code in dieser Umgebung. Jeder Anwendung einen eigenen Schlüssel mit dem kleinsten nötigen Scope geben.',
  'key.revoked': 'Schlüssel widerrufen',
  'members.none': 'Noch keine Mitglieder',
  'members.none-text':
    'Alle melden sich mit einem API-Schlüssel an. Mitglieder hinzufügen, damit sich jede Person mit eigener E-Mail-Adresse und Rolle anmeldet und im Audit-Log namentlich erscheint.',
  'members.added': 'Mitglied hinzugefügt',
  'members.removed': 'Mitglied entfernt',
  'members.role-changed': 'Rolle geändert',
  'sessions.network': 'Netzwerk',
  'sessions.browser': 'Browser',
  'sessions.browser-on': '{browser} unter {system}',
  'sessions.ended': 'Sitzung beendet',
  'secrets.none': 'Noch keine Secrets',
  'secrets.none-text':
    'Ein Secret hält ein Token oder Passwort aus den Einstellungen heraus. Eines erstellen und dann in Headern von Zielen und Endpunkten über den Namen verwenden.',
  'secrets.created': 'Secret erstellt',
  'secrets.replaced': 'Wert des Secrets ersetzt',
  'secrets.deleted': 'Secret gelöscht',
  'jobs.none': 'Noch keine Aufträge',
  'jobs.none-text':
    'Ein Auftrag sendet, wiederholt, gibt frei oder löscht viele Events im Hintergrund. Einen Auftrag in der Event-Liste, bei einem Ziel oder bei einem Eingangsendpunkt starten.',
  'jobs.open-events': 'Zu den Events',
  'jobs.stop-requested': 'Der Auftrag hält nach dem aktuellen Batch an',
  'event-type.created': 'Event-Typ erstellt',
  'event-type.archived-done': 'Event-Typ archiviert',
  'event-type.restored': 'Event-Typ wiederhergestellt',
  'event-type.deleted': 'Event-Typ gelöscht',
  'application.created': 'Anwendung erstellt',
  'application.deleted': 'Anwendung gelöscht',
  'domain.created': 'Domain hinzugefügt',
  'domain.converted': 'Typ der Domain geändert',
  'domain.deleted': 'Domain gelöscht',
  'menu.dialog': 'Dialog',
  'calls.title': 'API-Aufrufe dieser Seite',
  'calls.text':
    'Die letzten Aufrufe, neueste zuerst. Die kopierten Befehle lesen den API-Schlüssel aus POSTHORN_API_KEY.',
  'calls.none': 'Diese Seite hat noch keine API-Aufrufe gesendet.',
  'calls.curl': 'Als curl kopieren',
  'calls.curl-of': 'Als curl kopieren: {call}',
  'calls.docs': 'In der API-Referenz öffnen',
  'calls.docs-of': 'In der API-Referenz öffnen: {call}',
  'calls.masked': 'Geheime Werte im Anfrage-Body sind durch *** ersetzt.',
};
