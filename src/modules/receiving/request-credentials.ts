import { namedValues } from '#engine/inbound/query.js';
import type { ReceivedRequest } from '#engine/inbound/request.js';
import type { CredentialNames } from '#engine/inbound/secret-headers.js';
import { isSensitive } from '#kernel/crypto/sensitive-headers.js';

/** Minimum length of a credential. Shorter texts are not hidden, because that would make logs unreadable. */
const CREDENTIAL_LENGTH_MIN = 4;
/** Minimum length of a cookie value that counts as a credential. Shorter ones are often words: `true`, `dark`. */
const COOKIE_LENGTH_MIN = 8;
const COOKIES_MAX = 100;
const AUTHENTICATION = /^[\w-]+[ \t]+(\S.*)$/;

/**
 * Returns the credentials in the headers and the query of a request, so that they can be hidden in the logs of code.
 */
export function requestCredentials(
  request: Pick<ReceivedRequest, 'headers' | 'query'>,
  names: CredentialNames,
): readonly string[] {
  const headers = request.headers.filter(([name]) => names.headers.has(name.replaceAll('_', '-')) || isSensitive(name));
  const values = headers.flatMap(([name, value]) => partsOf(name, value));
  return [...namedValues(request.query, names.parameters), ...values].filter(
    (value) => value.length >= CREDENTIAL_LENGTH_MIN,
  );
}

/** Returns the value, and the parts that are credentials on their own: `abc` in `Bearer abc`, and values of cookies. */
function partsOf(name: string, value: string): string[] {
  if (name !== 'cookie') return [value, AUTHENTICATION.exec(value)?.[1] ?? ''];
  const cookies = value.split(';', COOKIES_MAX).map((pair) => pair.slice(pair.indexOf('=') + 1).trim());
  return [value, ...cookies.filter((cookie) => cookie.length >= COOKIE_LENGTH_MIN)];
}
