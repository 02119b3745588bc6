type Search = Readonly<Record<string, unknown>>;

/** A parameter of an address that its screen does not read, or reads only in part. */
export interface LeftOut {
  name: string;
  value: string;
}

/**
 * Returns a reader whose result contains only the parameters that `read` keeps.
 *
 * The router merges the result of a reader into the parameters of the address. Therefore all other parameters are set
 * to undefined, which also removes them from the address.
 */
export function only<Kept extends object>(read: (search: Search) => Kept): (search: Search) => Kept {
  return (search) => ({ ...Object.fromEntries(Object.keys(search).map((name) => [name, undefined])), ...read(search) });
}

/** Reader of screens without parameters. */
export const none = only(() => ({}));

/** Returns the parameters of an address that are not in `kept`. Lists with commas are compared item by item. */
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
