import { isSensitive } from './sensitive-headers.js';
import { sealedIn, type SealedPlace, type Vault } from './vault.js';

/** A header as `requests.headers` holds it: one that is a secret is sealed; rows of before have it as it came. */
export type StoredHeader = readonly [name: string, value: string | { readonly sealed: string }];

/** Which request the headers are of; sealed values open nowhere else. */
interface Of {
  environmentId: number;
  id: string;
}

/** The headers with the values of `secret` (names in lower case), and of what is sensitive anywhere, sealed. */
export function sealHeaders(
  vault: Pick<Vault, 'seal'>,
  of: Of,
  headers: readonly (readonly [string, string])[],
  secret: ReadonlySet<string>,
): StoredHeader[] {
  return headers.map(([name, value]) => [
    name,
    secret.has(name) || isSensitive(name) ? { sealed: vault.seal(value, contextOf(of)).toString('base64') } : value,
  ]);
}

/** The headers as they came. Throws when one can't be opened. */
export function openHeaders(vault: Pick<Vault, 'open'>, of: Of, headers: readonly StoredHeader[]): [string, string][] {
  return headers.map(([name, value]) => [
    name,
    typeof value === 'string' ? value : vault.open(Buffer.from(value.sealed, 'base64'), contextOf(of)).toString(),
  ]);
}

const contextOf = ({ environmentId, id }: Of): string =>
  sealedIn({ table: 'requests', environmentId, id, column: 'headers' });

/** Headers by name as `events`, `messages` and `destinations` hold them: sensitive ones are sealed; rows of before have them as they were given. */
export type StoredHeaders = Readonly<Record<string, string | { readonly sealed: string }>>;

/** Where they stand. */
export type HeadersPlace = Omit<SealedPlace, 'column'>;

/** The headers with the values of sensitive ones sealed; the same object where there is none. */
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

/** The headers as they were given; the same object where none is sealed. Throws when one can't be opened. */
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

/** Those of an event: of a fan-out they stand with its message. */
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
