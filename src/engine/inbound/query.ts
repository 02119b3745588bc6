import { findNamed, namesIn, namesOf } from './parameter-names.js';
import type { ReceivedRequest } from './request.js';
import type { Scheme } from './scheme.js';

/** Returns the names (see `namesOf`) of query parameters that contain credentials and must be hidden. */
export function secretParameters(scheme: Scheme): ReadonlySet<string> {
  return new Set(scheme.kind === 'query-token' ? namesOf(scheme.name) : []);
}

/** Returns the values of a query parameter, decoded as form data. */
export function parametersOf({ query }: Pick<ReceivedRequest, 'query'>, name: string): string[] {
  return query === '' ? [] : new URLSearchParams(query).getAll(name);
}

/**
 * Returns a parameter's value with percent-encoding decoded and `+` unchanged. Undefined if the parameter is missing or
 * repeated.
 */
export function plainParameterOf({ query }: Pick<ReceivedRequest, 'query'>, name: string): string | undefined {
  const values = query === '' ? [] : new URLSearchParams(query.replaceAll('+', '%2B')).getAll(name);
  return values.length === 1 ? values[0] : undefined;
}

/**
 * Replaces the values of named parameters in the query and in the URL. If a name is repeated, `replace` is called only
 * once, with everything from the first value to the end of the query. The names come from `namesOf`.
 */
export function withReplaced<T extends Pick<ReceivedRequest, 'query' | 'url'>>(
  request: T,
  names: ReadonlySet<string>,
  replace: (value: string) => string,
): T {
  if (names.size === 0) return request;
  const { query, url } = request;
  const start = url.indexOf('?') + 1;
  const inUrl = url.slice(start);
  const replaced = replacedIn(query, names, replace);
  if (start === 0) return { ...request, query: replaced };
  return {
    ...request,
    query: replaced,
    url: url.slice(0, start) + (inUrl === query ? replaced : replacedIn(inUrl, names, replace)),
  };
}

/**
 * Returns the names of the parameters whose values are encrypted in the query `stored`. `opened` is the decrypted
 * query. One encrypted value may decrypt to several parameters: if a name was repeated, everything from its first value
 * on was encrypted together.
 */
export function sealedNames(stored: string, opened: string): ReadonlySet<string> {
  const first = stored.indexOf('= ');
  if (first < 0) return new Set();
  const end = stored.indexOf('&', stored.lastIndexOf(' '));
  const endOpened = end < 0 ? opened.length : opened.length - (stored.length - end);
  return namesIn(opened.slice(stored.lastIndexOf('&', first) + 1, endOpened));
}

const NAMED_VALUES_MAX = 100;

/** Returns the first 100 values of the named parameters, decoded as form data. The names come from `namesOf`. */
export function namedValues(query: string, names: ReadonlySet<string>): string[] {
  const values: string[] = [];
  if (names.size === 0) return values;
  for (const [start, end] of placesOf(query, names)) {
    if (values.length === NAMED_VALUES_MAX) break;
    values.push(new URLSearchParams(`v=${query.slice(start, end)}`).get('v') ?? '');
  }
  return values;
}

function replacedIn(query: string, names: ReadonlySet<string>, replace: (value: string) => string): string {
  const [first, repeated] = placesOf(query, names);
  if (first === undefined) return query;
  const [start, end] = repeated === undefined ? first : [first[0], query.length];
  return query.slice(0, start) + replace(query.slice(start, end)) + query.slice(end);
}

/** Yields the positions of the values of the named parameters, in order. */
function* placesOf(query: string, names: ReadonlySet<string>): Generator<[start: number, end: number]> {
  let at = 0;
  for (const part of query.split('&')) {
    const named = findNamed(part, names);
    const cut = named < 0 ? -1 : part.indexOf('=', named);
    if (cut >= 0) yield [at + cut + 1, at + part.length];
    at += part.length + 1;
  }
}
