import type { Alias } from './mail-queries';

/** Where mail is to go, while it is typed. */
export interface DraftRoute {
  destination: string;
  /** JSON; empty lets everything through. */
  filter: string;
}

export function draftRoutes(alias: Pick<Alias, 'routes'> | null): DraftRoute[] {
  return alias?.routes.map(({ destination, filter }) => ({ destination, filter: filter === null ? '' : JSON.stringify(filter, null, 2) })) ?? [];
}

/** As the API takes them. Throws a SyntaxError for a filter that is no JSON. */
export function routesOf(routes: readonly DraftRoute[]): { destination: string; filter: Record<string, unknown> | null }[] {
  return routes.map(({ destination, filter }) => ({ destination, filter: filter.trim() === '' ? null : (JSON.parse(filter) as Record<string, unknown>) }));
}

/** One a line, or between commas. */
export function sendersOf(text: string): string[] {
  return [...new Set(text.split(/[\s,;]+/).filter((sender) => sender !== ''))];
}
