type Search = Readonly<Record<string, unknown>>;

/** A parameter of the page's URL that the screen ignores, at least in part. `value` contains only the ignored part. */
export interface LeftOut {
  name: string;
  value: string;
}

/**
 * Returns a function that reads the query parameters of the page's URL and returns only those that `read` keeps.
 *
 * The router merges the returned parameters into the URL. Therefore all other parameters are set to undefined, which
 * also removes them from the URL.
 */
export function only<Kept extends object>(read: (search: Search) => Kept): (search: Search) => Kept {
  return (search) => ({ ...Object.fromEntries(Object.keys(search).map((name) => [name, undefined])), ...read(search) });
}

/** Reads the query parameters for screens without parameters: removes all of them. */
export const none = only(() => ({}));

/** Returns the parameters of the page's URL that are not in `kept`. Compares comma-separated lists item by item. */
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
