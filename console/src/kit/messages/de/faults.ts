/** Texts for errors of the API, in German. */
export const faultsDe = {
  'fault.reason.domain_paused':
    'Diese Domain ist pausiert, weil zu viele ihrer E-Mails nicht zustellbar waren oder als Spam gemeldet wurden. Die Domain öffnen, die Quoten prüfen und „Fortsetzen“ wählen.',
  'fault.reason.domain_not_verified':
    'Die Domain des Absenders ist nicht verifiziert. Die Domain unter „Domains“ hinzufügen und ihre DNS-Einträge veröffentlichen.',
  'fault.reason.in_flight': 'Dieselbe Anfrage läuft noch. Gleich erneut versuchen.',
  'fault.reason.key_reused': 'Diese Anfrage wurde schon mit anderem Inhalt gesendet. Die Seite neu laden.',
  'fault.reason.disabled':
    'Das Ziel ist deaktiviert oder wurde gelöscht. Es wurde nichts gesendet. Zuerst auf der Seite des Ziels „Aktivieren“ wählen.',
  'fault.reason.erased': 'Die Payload dieses Events wurde gelöscht, daher ist erneutes Senden nicht möglich.',
  'fault.reason.cancelled':
    'Diese E-Mail wurde abgebrochen und ihr Inhalt gelöscht, daher kann sie nicht gesendet werden.',
  'fault.reason.too_large':
    'Der Body war zu groß und wurde nicht gespeichert, daher ist erneutes Senden nicht möglich.',
  'fault.reason.replay_live':
    'Ein Auftrag für dieselben Events läuft noch. Warten, bis er endet, oder ihn unter „Aufträge“ anhalten.',
  'fault.reason.nothing_new': 'Es gibt nichts Neues zu tun.',
  'fault.internal':
    'Die Anfrage ist an einem internen Fehler gescheitert. Vor dem Wiederholen einer Änderung prüfen, ob sie gespeichert wurde. Tritt der Fehler erneut auf, die Anfrage-ID melden: Das Protokoll des Dienstes enthält die Ursache.',
  'fault.internal-load':
    'Die Daten konnten wegen eines internen Fehlers nicht geladen werden. Erneut versuchen. Tritt der Fehler erneut auf, die Anfrage-ID melden: Das Protokoll des Dienstes enthält die Ursache.',
  'fault.unavailable': 'Der Dienst ist vorübergehend nicht verfügbar. Gleich erneut versuchen.',
  'fault.parts': 'Nicht geladen: {names}.',
  'fault.in-use': 'Es wird noch verwendet. Zuerst diese Verwendungen entfernen.',
  'fault.original': 'Meldung des Dienstes',
} as const;
