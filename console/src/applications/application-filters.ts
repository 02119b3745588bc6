/** How far back figures go. */
export const OVERVIEW_RANGES = ['1h', '24h', '7d', '30d'] as const;
export type OverviewRange = (typeof OVERVIEW_RANGES)[number];

/** Which applications the list shows, as its address says it. */
export function readApplicationFilters({ search }: Readonly<Record<string, unknown>>): { search?: string } {
  if ((typeof search !== 'string' && typeof search !== 'number') || String(search).trim() === '') return {};
  return { search: String(search).trim() };
}

/** How far back the figures of one go, as its address says it. */
export function readRange({ range }: Readonly<Record<string, unknown>>): { range?: OverviewRange } {
  const known = OVERVIEW_RANGES.find((each) => each === range);
  return known === undefined ? {} : { range: known };
}

/** Event types as they are typed: by commas, blanks or lines; none for all. */
export function readTypes(text: string): string[] {
  return [...new Set(text.split(/[\s,]+/).filter((each) => each !== ''))];
}
