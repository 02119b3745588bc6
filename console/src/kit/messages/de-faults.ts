/** German headlines for the error types of the API (docs/errors.md). */
const TYPES: Readonly<Record<string, string>> = {
  bad_request: 'Die Anfrage ist nicht lesbar. Die Eingaben prüfen.',
  unauthenticated: 'Die Anmeldung ist abgelaufen. Bitte erneut anmelden.',
  insufficient_scope: 'Die eigene Rolle erlaubt diese Aktion nicht.',
  forbidden: 'Eine Erweiterung dieser Installation erlaubt diese Aktion nicht.',
  not_found: 'Das Objekt existiert in dieser Umgebung nicht mehr.',
  method_not_allowed: 'Der Endpunkt nimmt diese Methode nicht an. Es wurde nichts gespeichert.',
  conflict: 'Die Aktion passt nicht zum aktuellen Zustand. Die Seite neu laden und den Zustand prüfen.',
  payload_too_large: 'Der Inhalt ist zu groß. Es wurde nichts gespeichert.',
  unsupported_media_type: 'Dieser Inhaltstyp wird nicht unterstützt.',
  validation_failed: 'Die Eingaben sind noch nicht gültig.',
  rate_limited: 'Zu viele Anfragen in kurzer Zeit.',
  not_implemented: 'Diese Funktion gibt es in dieser Version noch nicht.',
  internal: 'Der Dienst hat einen Fehler gemeldet. In einem Moment erneut versuchen.',
};

/** Returns the German headline for an error type, or null for an unknown type. */
export function germanHeadline(type: string | undefined): string | null {
  return (type !== undefined && Object.hasOwn(TYPES, type) && TYPES[type]) || null;
}

const NOUNS: Readonly<Record<string, string>> = {
  'a string': 'ein Text',
  'a whole number': 'eine ganze Zahl',
  'a number': 'eine Zahl',
  'true or false': 'true oder false',
  'an object': 'ein Objekt',
  'a list': 'eine Liste',
  'an absolute URL': 'eine vollständige URL',
  'a uuid': 'eine UUID',
  'an email address': 'eine E-Mail-Adresse',
  null: 'null',
};

const PHRASES: readonly (readonly [RegExp, (...groups: string[]) => string])[] = [
  [/^is required$/, () => 'ist erforderlich'],
  [/^is not known here$/, () => 'ist hier unbekannt'],
  [/^is not valid$/, () => 'ist ungültig'],
  [/^must not be empty$/, () => 'darf nicht leer sein'],
  [/^must be in the future$/, () => 'muss in der Zukunft liegen'],
  [/^must not name anything twice$/, () => 'darf nichts doppelt nennen'],
  [/^must be one of (.+)$/, (values) => `muss einer dieser Werte sein: ${values}`],
  [/^must have at least (\d+) characters$/, (count) => `muss mindestens ${count} Zeichen haben`],
  [/^must have at most (\d+) characters$/, (count) => `darf höchstens ${count} Zeichen haben`],
  [/^must have at least (\d+) entries$/, (count) => `muss mindestens ${count} Einträge haben`],
  [/^must have at most (\d+) entries(?:, and has (\d+))?$/, (count) => `darf höchstens ${count} Einträge haben`],
  [/^must be at least ([\d.-]+)$/, (limit) => `muss mindestens ${limit} sein`],
  [/^must be at most ([\d.-]+)$/, (limit) => `darf höchstens ${limit} sein`],
  [/^must be greater than ([\d.-]+)$/, (limit) => `muss größer als ${limit} sein`],
  [/^must be less than ([\d.-]+)$/, (limit) => `muss kleiner als ${limit} sein`],
  [/^must be a time such as (\S+) \(RFC 3339\)$/, (time) => `muss ein Zeitpunkt sein, etwa ${time}`],
  [/^must match (.+)$/, (pattern) => `muss diesem Muster entsprechen: ${pattern}`],
];

/** Returns the German text for the error of a field. Returns an unknown message unchanged. */
export function germanField(message: string): string {
  for (const [pattern, phrase] of PHRASES) {
    const groups = pattern.exec(message)?.slice(1);
    if (groups !== undefined) return phrase(...groups);
  }
  const nouns = /^must be (.+)$/.exec(message)?.[1]?.split(' or ') ?? [];
  const known = nouns.map((noun) => (Object.hasOwn(NOUNS, noun) ? NOUNS[noun] : undefined));
  const whole = Object.hasOwn(NOUNS, nouns.join(' or ')) ? NOUNS[nouns.join(' or ')] : undefined;
  if (whole !== undefined) return `muss ${whole} sein`;
  return nouns.length > 0 && known.every((noun) => noun !== undefined) ? `muss ${known.join(' oder ')} sein` : message;
}
