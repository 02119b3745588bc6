export const RANGES = ['1h', '24h', '7d', '30d'] as const;
export type Range = (typeof RANGES)[number];

/** How far back is looked when the address does not say. */
export const RANGE_DEFAULT: Range = '24h';

/** What the overview shows, as its address says it. */
export interface OverviewSearch {
  range?: Range;
}

/** The range of an address; what is none is left out, so that an address typed by hand shows something. */
export function readRange(search: Readonly<Record<string, unknown>>): OverviewSearch {
  const range = RANGES.find((each) => each === search['range']);
  return range === undefined ? {} : { range };
}

const WINDOWS_MS: Readonly<Record<string, number>> = { '1m': 60_000, '1h': 3_600_000, '1d': 86_400_000 };

/** How long a window is that the API names. */
export function windowMsOf(window: string): number {
  return WINDOWS_MS[window] ?? 3_600_000;
}

/** A range that was dragged over, as the list of events takes it: full seconds that hold all of it. */
export function eventsOf(fromMs: number, toMs: number): { since: string; until: string } {
  return {
    since: new Date(Math.floor(fromMs / 1000) * 1000).toISOString(),
    until: new Date(Math.ceil(toMs / 1000) * 1000).toISOString(),
  };
}
