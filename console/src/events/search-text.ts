/** Filters that the search field sets. */
type Searched = 'q' | 'dedupe_id' | 'event_type' | 'destination' | 'application' | 'endpoint';

export type SearchKind =
  | 'event'
  | 'delivery'
  | 'message'
  | 'request'
  | 'bare'
  | 'uuid'
  | 'destination'
  | 'url'
  | 'application'
  | 'endpoint'
  | 'provider'
  | 'provider-uuid'
  | 'type';

/** The kind of text that the user typed, and the filter that finds it. */
export interface SearchTarget {
  kind: SearchKind;
  filter: Searched;
  value: string;
}

const DIGITS = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';
const ULID = '[0-7][0-9A-HJKMNP-TV-Z]{25}';
const UUID = /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/i;

/** Returns whether a UUID can be an id of this service. These ids start with the time of their creation. */
const [FIRST_ID_MS, LAST_ID_MS] = [Date.UTC(2024, 0), Date.UTC(2050, 0)];

const FORMS: readonly [pattern: RegExp, kind: SearchKind, filter: Searched][] = [
  [new RegExp(`^evt_${ULID}\\.\\d{1,5}$`, 'i'), 'delivery', 'q'],
  [new RegExp(`^evt_${ULID}$`, 'i'), 'event', 'q'],
  [new RegExp(`^msg_${ULID}$`, 'i'), 'message', 'q'],
  [new RegExp(`^req_${ULID}$`, 'i'), 'request', 'q'],
  [new RegExp(`^dst_${ULID}$`, 'i'), 'destination', 'destination'],
  [new RegExp(`^app_${ULID}$`, 'i'), 'application', 'application'],
  [new RegExp(`^ep_${ULID}$`, 'i'), 'endpoint', 'endpoint'],
  [/^https?:\/\//i, 'url', 'destination'],
  // An id of a provider that has a prefix of this service, for example the id of a Stripe event (`evt_…`).
  [/^(?:evt|msg|req|dst|app|ep)_(?=\S*\d)\S{8,}$/i, 'provider', 'dedupe_id'],
];

/**
 * Determines whether the text is an id or free text. Returns null for blank text. Free text is an event type, which
 * must match exactly.
 */
export function readSearchText(typed: string): SearchTarget | null {
  const text = typed.trim();
  if (text === '') return null;
  if (UUID.test(text))
    return isOwnUuid(text)
      ? { kind: 'uuid', filter: 'q', value: `evt_${ulidOf(text)}` }
      : { kind: 'provider-uuid', filter: 'dedupe_id', value: text };
  if (new RegExp(`^${ULID}$`, 'i').test(text)) return { kind: 'bare', filter: 'q', value: `evt_${text.toUpperCase()}` };
  const [, kind, filter] = FORMS.find(([pattern]) => pattern.test(text)) ?? [
    null,
    'type' as const,
    'event_type' as const,
  ];
  return { kind, filter, value: text };
}

/** Returns the filters that a typed text sets. Text that is not an id removes the id filter that was set before. */
export function searchChanges(typed: string): { [Name in Searched]?: string | undefined } {
  const target = readSearchText(typed);
  return { q: undefined, dedupe_id: undefined, ...(target !== null && { [target.filter]: target.value }) };
}

/** Returns whether a UUID can be an id of this service, which starts with the time of its creation. */
function isOwnUuid(uuid: string): boolean {
  const atMs = parseInt(uuid.replaceAll('-', '').slice(0, 12), 16);
  return atMs >= FIRST_ID_MS && atMs < LAST_ID_MS;
}

/** Returns the 26 characters of an id, which the database stores as a UUID. */
function ulidOf(uuid: string): string {
  let rest = BigInt(`0x${uuid.replaceAll('-', '')}`);
  let text = '';
  for (let at = 0; at < 26; at += 1) {
    text = `${DIGITS[Number(rest & 31n)]}${text}`;
    rest >>= 5n;
  }
  return text;
}
