/** Without the body of the request. Names are in lower case. */
export interface RedactedExchange {
  method: string;
  /** Without user, password and fragment, which are not sent. */
  url: string;
  headers: Readonly<Record<string, string>>;
  /** Null without an answer. */
  answered: Readonly<Record<string, string>> | null;
}

/** As stored. Null stands for a header of the event, which is stored with the event and erased with it. */
export interface KeptExchange {
  method: string;
  url: string;
  headers: Record<string, string | null>;
  answered: Record<string, string> | null;
}

/** Maximum length of all names and values per direction. Headers that exceed it are left out. */
const HEADERS_MAX = 4_096;
const URL_MAX = 2_048;

/** `own` are the headers of the event. `hidden` replaces values for which `isHidden` returns true. */
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

/** With the current headers of the event, which are empty after an erasure. */
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
  // Unlike an assignment, fromEntries treats "__proto__" like any other name.
  return Object.fromEntries(fitting);
}
