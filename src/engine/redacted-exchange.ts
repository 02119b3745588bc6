/** A request and its response, without the body of the request. Header names are in lower case. */
export interface RedactedExchange {
  method: string;
  /** URL without user, password and fragment, which are not sent. */
  url: string;
  headers: Readonly<Record<string, string>>;
  /** Response headers. Null if there was no response. */
  answered: Readonly<Record<string, string>> | null;
}

/**
 * Exchange as it is stored. A header whose value is also in the event is stored with the value null, so that erasing
 * the event erases the value.
 */
export interface KeptExchange {
  method: string;
  url: string;
  headers: Record<string, string | null>;
  answered: Record<string, string> | null;
}

/**
 * Maximum total length of the header names and values of a request or a response. Headers beyond this length are
 * omitted.
 */
const HEADERS_MAX = 4_096;
const URL_MAX = 2_048;

/**
 * Returns the exchange to store. Stores null for header values that the event's headers (`own`) also contain, and
 * `hidden` for the values of headers whose name satisfies `isHidden`.
 */
export function storableExchange(
  { method, url, headers, answered }: RedactedExchange,
  own: Readonly<Record<string, string>> | null,
  isHidden: (name: string) => boolean,
  hidden: string,
): KeptExchange {
  const sent = Object.entries(headers).map(([name, value]): [string, string | null] => {
    if (own !== null && Object.hasOwn(own, name) && own[name] === value) return [name, null];
    return [name, isHidden(name) ? hidden : value];
  });
  const answers =
    answered &&
    Object.entries(answered).map(([name, value]): [string, string] => [name, isHidden(name) ? hidden : value]);
  return { method, url: url.slice(0, URL_MAX), headers: bounded(sent), answered: answers && bounded(answers) };
}

/**
 * Returns a stored exchange with all header values. Inserts the values that only the event stores, or empty values if
 * the event has been erased.
 */
export function redactExchange(
  { headers, ...rest }: KeptExchange,
  own: Readonly<Record<string, string>> | null,
): RedactedExchange {
  const filled = Object.entries(headers).map(([name, value]): [string, string] => [
    name,
    value ?? (own !== null && Object.hasOwn(own, name) ? (own[name] ?? '') : ''),
  ]);
  return { ...rest, headers: Object.fromEntries(filled) };
}

function bounded<V extends string | null>(pairs: readonly (readonly [string, V])[]): Record<string, V> {
  let left = HEADERS_MAX;
  const fitting = pairs.filter(([name, value]) => {
    const length = name.length + (value?.length ?? 0);
    if (length > left) return false;
    left -= length;
    return true;
  });
  // Uses `fromEntries`, because an assignment to the name `__proto__` would set the object's prototype.
  return Object.fromEntries(fitting);
}
