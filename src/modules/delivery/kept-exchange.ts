import { storableExchange } from '#engine/redacted-exchange.js';
import { HIDDEN, isSensitive } from '#kernel/crypto/sensitive-headers.js';
import type { SentExchange, Target } from '#modules/destinations/contract.js';

/**
 * Returns request and response as JSON for storage, or null if the adapter returned no valid exchange. Hides the values
 * of credentials and of headers that contain a named secret, so that they never reach storage. Omits the values of the
 * event's own headers, which are stored with the event.
 */
export function keptExchange(
  exchange: SentExchange | undefined,
  own: Readonly<Record<string, string>> | null,
  { secretHeaders }: Pick<Target, 'secretHeaders'>,
): string | null {
  if (exchange === undefined || !isExchange(exchange)) return null;
  const {
    method,
    url: { protocol, host, pathname, search },
    headers,
    answered,
  } = exchange;
  const url = `${protocol}//${host}${pathname}${search}`;
  const isHidden = (name: string): boolean => isSensitive(name.toLowerCase()) || secretHeaders?.has(name) === true;
  return JSON.stringify(
    storableExchange(
      { method, url, headers: texts(headers), answered: answered && texts(answered) },
      own,
      isHidden,
      HIDDEN,
    ),
  );
}

/** Returns whether the exchange is valid at run time, because the compiler does not check adapters of extensions. */
function isExchange({ method, url, headers, answered }: SentExchange): boolean {
  return (
    typeof method === 'string' &&
    (url as unknown) instanceof URL &&
    typeof headers === 'object' &&
    (headers as unknown) !== null &&
    typeof answered === 'object'
  );
}

function texts(headers: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).filter(([, value]) => typeof (value as unknown) === 'string'));
}
