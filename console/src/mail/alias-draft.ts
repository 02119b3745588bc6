import { type JsonFault, readObject } from '../kit/json/read-json';
import type { Alias } from './mail-queries';

/** A route of an alias in the format of the form. */
export interface DraftRoute {
  destination: string;
  /** Filter as JSON text. If empty, every message matches. */
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

/** A route in the API's format, or the error in its filter. */
export interface ReadRoute {
  destination: string;
  filter: Record<string, unknown> | null;
  fault: JsonFault | null;
}

/** Parses the routes. `complaint` is the error for a filter that is valid JSON but not an object. */
export function readRoutes(routes: readonly DraftRoute[], complaint: string): ReadRoute[] {
  return routes.map(({ destination, filter }) => {
    const { value, fault } = readObject(filter, complaint);
    return { destination, filter: value, fault };
  });
}

/** Parses addresses separated by line breaks, spaces, commas or semicolons. */
export function sendersOf(text: string): string[] {
  return [...new Set(text.split(/[\s,;]+/).filter((sender) => sender !== ''))];
}
