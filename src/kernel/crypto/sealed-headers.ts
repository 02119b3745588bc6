import { isSensitive } from './sensitive-headers.js';
import { sealedIn, type SealedPlace, type Vault } from './vault.js';

/**
 * A header as stored in `requests.headers`. Secret values are sealed (encrypted), except in older rows.
 *
 * `byName`: the value was sealed only because the header's name is sensitive. The endpoint did not use the header for
 * authentication. `of`: the value is bound to the environment and the header's name. Without `of`, it is bound to its
 * request.
 */
export type StoredHeader = readonly [
  name: string,
  value: string | { readonly sealed: string; readonly byName?: true; readonly of?: 'environment' },
];

/** The request that the headers belong to. */
interface Of {
  environmentId: number;
  id: string;
}

/**
 * Seals (encrypts) the values of sensitive headers, and of the headers named in `secret` (in lower case, `_` replaced
 * by `-`).
 *
 * Headers in `secret` contain credentials of the provider, which are equal in most requests. Each of their values is
 * sealed once and reused for all requests of the environment (`Vault.sealRepeated`).
 */
export function sealHeaders(
  vault: Pick<Vault, 'seal' | 'sealRepeated'>,
  of: Of,
  headers: readonly (readonly [string, string])[],
  secret: ReadonlySet<string>,
): StoredHeader[] {
  return headers.map(([name, value]) => {
    if (secret.has(name.includes('_') ? name.replaceAll('_', '-') : name)) {
      const sealed = vault.sealRepeated(value, contextOfName(of, name)).toString('base64');
      return [name, { sealed, of: 'environment' }];
    }
    return isSensitive(name)
      ? [name, { sealed: vault.seal(value, contextOf(of)).toString('base64'), byName: true }]
      : [name, value];
  });
}

/**
 * Returns the names of headers with encrypted values, with `_` replaced by `-`. `used` excludes headers that are
 * encrypted only because of their sensitive name.
 */
export function sealedHeaderNames(headers: readonly StoredHeader[], which: 'all' | 'used'): ReadonlySet<string> {
  const sealed = headers.filter(
    ([, value]) => typeof value !== 'string' && (which === 'all' || value.byName === undefined),
  );
  return new Set(sealed.map(([name]) => name.replaceAll('_', '-')));
}

/** Returns the headers with all sealed values decrypted. Throws if a value cannot be decrypted. */
export function openHeaders(vault: Pick<Vault, 'open'>, of: Of, headers: readonly StoredHeader[]): [string, string][] {
  return headers.map(([name, value]) => [
    name,
    typeof value === 'string'
      ? value
      : vault
          .open(
            Buffer.from(value.sealed, 'base64'),
            value.of === 'environment' ? contextOfName(of, name) : contextOf(of),
          )
          .toString(),
  ]);
}

const contextOf = ({ environmentId, id }: Of): string =>
  sealedIn({ table: 'requests', environmentId, id, column: 'headers' });

const contextOfName = ({ environmentId }: Of, name: string): string =>
  sealedIn({ table: 'requests', environmentId, id: '', column: `headers.${name}` });

/**
 * Headers as stored in `events`, `messages` and `destinations`. Sensitive values are sealed (encrypted), except in
 * older rows.
 */
export type StoredHeaders = Readonly<Record<string, string | { readonly sealed: string }>>;

export type HeadersPlace = Omit<SealedPlace, 'column'>;

/** Seals (encrypts) the sensitive values of headers. Returns the same object if no value is sensitive. */
export function sealNamed(
  vault: Pick<Vault, 'seal'>,
  place: HeadersPlace,
  headers: Readonly<Record<string, string>>,
): StoredHeaders {
  const names = Object.keys(headers);
  if (!names.some((name) => isSensitive(name.toLowerCase()))) return headers;
  const context = sealedIn({ ...place, column: 'headers' });
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [
      name,
      isSensitive(name.toLowerCase()) ? { sealed: vault.seal(value, context).toString('base64') } : value,
    ]),
  );
}

/**
 * Decrypts sealed header values. Returns the same object if no value is sealed. Throws if a value cannot be decrypted.
 */
export function openNamed(
  vault: Pick<Vault, 'open'>,
  place: HeadersPlace,
  headers: StoredHeaders,
): Record<string, string> {
  if (isOpen(headers)) return headers;
  const context = sealedIn({ ...place, column: 'headers' });
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [
      name,
      typeof value === 'string' ? value : vault.open(Buffer.from(value.sealed, 'base64'), context).toString(),
    ]),
  );
}

function isOpen(headers: StoredHeaders): headers is Record<string, string> {
  return Object.values(headers).every((value) => typeof value === 'string');
}

/**
 * Returns the row in which the headers of a request are stored: the row of the message if the request sent one to an
 * application, otherwise the row of the event.
 */
export function headersPlace({
  environmentId,
  eventId,
  messageId,
}: {
  environmentId: number;
  eventId: string;
  messageId: string | null;
}): HeadersPlace {
  return messageId === null
    ? { table: 'events', environmentId, id: eventId }
    : { table: 'messages', environmentId, id: messageId };
}
