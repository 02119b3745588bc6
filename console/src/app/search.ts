type Search = Readonly<Record<string, unknown>>;

/** A query parameter, or a part of its value, that the screen ignores. `value` contains only the ignored part. */
export interface LeftOut {
  name: string;
  value: string;
}

/**
 * Returns a function that keeps the query parameters that `read` returns, and sets all others to undefined. The router
 * merges this result into the URL, so only undefined removes a parameter.
 */
export function only<Kept extends object>(read: (search: Search) => Kept): (search: Search) => Kept {
  return (search) => ({ ...Object.fromEntries(Object.keys(search).map((name) => [name, undefined])), ...read(search) });
}

/** Removes all query parameters, for screens that have none. */
export const none = only(() => ({}));

/** Returns the query parameters that are not in `kept`. Compares comma-separated lists item by item. */
export function leftOut(said: Search, kept: Search): LeftOut[] {
  return Object.entries(said).flatMap(([name, value]) => {
    const known = new Set(
      partsOf(Object.hasOwn(kept, name) ? kept[name] : undefined).map((part) => part.toLowerCase()),
    );
    const lost = partsOf(value).filter((part) => !known.has(part.toLowerCase()));
    return lost.length === 0 ? [] : [{ name, value: lost.join(',') }];
  });
}

function partsOf(value: unknown): string[] {
  if (value === undefined || value === null || value === '') return [];
  const texts = [value].flat().map((each) => (typeof each === 'string' ? each : JSON.stringify(each)));
  return texts
    .flatMap((text) => text.split(','))
    .map((text) => text.trim())
    .filter((text) => text !== '');
}
