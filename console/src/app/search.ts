type Search = Readonly<Record<string, unknown>>;

/** A parameter of an address that its screen does not read, or only a part of it. */
export interface LeftOut {
  name: string;
  value: string;
}

/**
 * Returns a reader whose result holds nothing but what `read` keeps. The router merges what a reader returns into what the address says, so
 * each other parameter is set to undefined, which also takes it out of the address.
 */
export function only<Kept extends object>(read: (search: Search) => Kept): (search: Search) => Kept {
  return (search) => ({ ...Object.fromEntries(Object.keys(search).map((name) => [name, undefined])), ...read(search) });
}

/** The reader of screens without parameters. */
export const none = only(() => ({}));

/** Returns the parameters of an address that are not in what was kept. A list with commas is compared by its parts. */
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
