/** Time ranges that the user can select for an application's figures. */
export const OVERVIEW_RANGES = ['1h', '24h', '7d', '30d'] as const;
export type OverviewRange = (typeof OVERVIEW_RANGES)[number];

/** Reads the filters of the application list from the query parameters of the page's URL. */
export function readApplicationFilters({ search }: Readonly<Record<string, unknown>>): { search?: string } {
  if ((typeof search !== 'string' && typeof search !== 'number') || String(search).trim() === '') return {};
  return { search: String(search).trim() };
}

/** Reads the range of an application's figures from the query parameters of the page's URL. */
export function readRange({ range }: Readonly<Record<string, unknown>>): { range?: OverviewRange } {
  const known = OVERVIEW_RANGES.find((each) => each === range);
  return known === undefined ? {} : { range: known };
}

/** Parses event types separated by commas, spaces or line breaks. Empty text means all types. */
export function readTypes(text: string): string[] {
  return [...new Set(text.split(/[\s,]+/).filter((each) => each !== ''))];
}
