import { type JsonFault, readObject } from '../kit/json/read-json';
import type { Alias } from './mail-queries';

/** Where mail is to go, while it is typed. */
export interface DraftRoute {
  destination: string;
  /** JSON; empty lets everything through. */
  filter: string;
}

export function draftRoutes(alias: Pick<Alias, 'routes'> | null): DraftRoute[] {
  return (
    alias?.routes.map(({ destination, filter }) => ({
      destination,
      filter: filter === null ? '' : JSON.stringify(filter, null, 2),
    })) ?? []
  );
}

/** A route as the API takes it, and what is wrong with its filter. */
export interface ReadRoute {
  destination: string;
  filter: Record<string, unknown> | null;
  fault: JsonFault | null;
}

/** `complaint` says what a filter is that is JSON and no object. */
export function readRoutes(routes: readonly DraftRoute[], complaint: string): ReadRoute[] {
  return routes.map(({ destination, filter }) => {
    const { value, fault } = readObject(filter, complaint);
    return { destination, filter: value, fault };
  });
}

/** One a line, or between commas. */
export function sendersOf(text: string): string[] {
  return [...new Set(text.split(/[\s,;]+/).filter((sender) => sender !== ''))];
}
