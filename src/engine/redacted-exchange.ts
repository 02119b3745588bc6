/** What one attempt sent, less its body, and the headers that it was answered with. Names in lower case. */
export interface RedactedExchange {
  method: string;
  /** Without user, password and fragment, which are not sent. */
  url: string;
  headers: Readonly<Record<string, string>>;
  /** Null without an answer. */
  answered: Readonly<Record<string, string>> | null;
}

/** The same as it is kept: a value of null is that of the event's own header, which stands with the event and is erased with it. */
export interface KeptExchange {
  method: string;
  url: string;
  headers: Record<string, string | null>;
  answered: Record<string, string> | null;
}

/** Characters of names and values, of each direction; a header that does not fit any more is left out. */
const HEADERS_MAX = 4_096;
const URL_MAX = 2_048;

/** What of an exchange may be kept: `own` are the headers of the event, and what `isHidden` says yes to is kept as `hidden`. */
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

/** What was sent, with the event's own headers as they are now: empty once they were erased. */
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
  // Unlike an assignment, fromEntries makes "__proto__" a name like any other.
  return Object.fromEntries(fitting);
}
