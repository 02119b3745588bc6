/** Time ranges of figures and plots, as in the page's URL. */
export const RANGES = ['1h', '24h', '7d', '30d'] as const;
export type Range = (typeof RANGES)[number];

/** Range if the page's URL contains none. */
export const RANGE_DEFAULT: Range = '24h';

/** Reads the range from the query parameters of the page's URL. Ignores invalid values, so that the page still opens. */
export function readRange(search: Readonly<Record<string, unknown>>): { range?: Range } {
  const range = RANGES.find((each) => each === search['range']);
  return range === undefined ? {} : { range };
}

const WINDOWS_MS: Readonly<Record<string, number>> = { '1m': 60_000, '1h': 3_600_000, '1d': 86_400_000 };

/** Returns the length in milliseconds of a time window in the API's notation, such as `1h`. */
export function windowMsOf(window: string): number {
  return WINDOWS_MS[window] ?? 3_600_000;
}

/** Returns the selected range as filters of the event list, rounded outward to full seconds. */
export function eventsOf(fromMs: number, toMs: number): { since: string; until: string } {
  return {
    since: new Date(Math.floor(fromMs / 1000) * 1000).toISOString(),
    until: new Date(Math.ceil(toMs / 1000) * 1000).toISOString(),
  };
}
