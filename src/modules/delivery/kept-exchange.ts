import { storableExchange } from '#engine/redacted-exchange.js';
import { HIDDEN, isSensitive } from '#kernel/crypto/sensitive-headers.js';
import type { SentExchange, Target } from '#modules/destinations/contract.js';

/**
 * What is kept of an exchange, as JSON: headers that let somebody in, and those that a named secret is part of, are hidden before they are
 * stored, for everybody and for good; values of the event's own headers stay with the event. Null for what an adapter gave that is no exchange.
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

/** Adapters of extensions are not checked by our compiler. */
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
