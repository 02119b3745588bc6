/** Reads the filters of the application list from the query parameters of the page's URL. */
export function readApplicationFilters({ search }: Readonly<Record<string, unknown>>): { search?: string } {
  if ((typeof search !== 'string' && typeof search !== 'number') || String(search).trim() === '') return {};
  return { search: String(search).trim() };
}

/** Parses event types separated by commas, spaces or line breaks. Empty text means all types. */
export function readTypes(text: string): string[] {
  return [...new Set(text.split(/[\s,]+/).filter((each) => each !== ''))];
}
