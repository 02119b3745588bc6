import { compileFilter } from '#engine/conditions/condition.js';
import type { Fault } from '#kernel/errors.js';
import { type Id, parseId } from '#kernel/ids.js';
import type { RouteEntity } from './endpoints.entities.js';

export interface AskedRoute {
  /** Id (`rte_…`) of a route to keep. `null` for a new route. */
  id: string | null;
  /** Destination id (`dst_…`). */
  destination: string;
  filter: Record<string, unknown> | null;
}

/** Routes as given by the caller. The short form `destinations` keeps existing routes to these destinations. */
export interface AskedRoutes {
  destinations?: readonly string[];
  routes?: readonly AskedRoute[];
}

/** A route that is not validated completely. `at` is the path of the request field that contains the destination. */
export interface RouteDraft {
  id: Id | null;
  destinationId: Id;
  filter: Record<string, unknown> | null;
  at: string;
}

/** Routes and errors of a request. `drafts` is null if the request has no routes. */
export interface DraftedRoutes {
  drafts: RouteDraft[] | null;
  faults: Fault[];
}

type Before = readonly Pick<RouteEntity, 'id' | 'destinationId' | 'filter'>[];

/** Returns the routes of a request as drafts. Does not check whether the destinations exist. */
export function draftRoutes(before: Before, { destinations, routes }: AskedRoutes): DraftedRoutes {
  if (routes !== undefined) {
    const drafted = routes.map((route, index) => draftRoute(before, route, `routes.${index}.`));
    const drafts = drafted.flatMap(({ draft }) => draft ?? []);
    const faults = [
      ...drafted.flatMap((each) => each.faults),
      ...repetitions(drafts, routes),
      ...disagreement(destinations, routes),
    ];
    return { drafts, faults };
  }
  if (destinations === undefined) return { drafts: null, faults: [] };
  const drafted = destinations.map((destination, index) => {
    const at = `destinations.${index}`;
    const destinationId = parseId('dst', destination);
    if (destinationId === null) return { draft: null, faults: [noDestination(at)] };
    const known = before.find((route) => route.destinationId === destinationId);
    return { draft: { id: known?.id ?? null, destinationId, filter: known?.filter ?? null, at }, faults: [] };
  });
  const drafts = drafted.flatMap(({ draft }) => draft ?? []);
  return { drafts, faults: [...drafted.flatMap(({ faults }) => faults), ...repetitions(drafts, [])] };
}

/** Returns one route of a request as a draft. `at` is the prefix of its field names, including the dot. */
export function draftRoute(
  before: Before,
  { id, destination, filter }: AskedRoute,
  at: string,
): { draft: RouteDraft | null; faults: Fault[] } {
  const faults: Fault[] = [];
  const routeId = id === null ? null : parseId('rte', id);
  if (id !== null && !before.some((route) => route.id === routeId)) {
    faults.push({ path: `${at}id`, message: 'is no route of this endpoint: leave it out for a new one' });
  }
  const destinationId = parseId('dst', destination);
  if (destinationId === null) faults.push(noDestination(`${at}destination`));
  const compiled = filter && compileFilter(filter, `${at}filter`);
  if (compiled && 'faults' in compiled) faults.push(...compiled.faults);
  if (destinationId === null || faults.length > 0) return { draft: null, faults };
  return { draft: { id: routeId, destinationId, filter, at: `${at}destination` }, faults };
}

export function noDestination(path: string): Fault {
  return { path, message: 'There is no such destination.' };
}

export function repeatedDestination(path: string): Fault {
  return { path, message: 'The same destination occurs twice.' };
}

function repetitions(drafts: readonly RouteDraft[], routes: readonly AskedRoute[]): Fault[] {
  const twice = drafts.filter(
    ({ destinationId }, index) => drafts.findIndex((other) => other.destinationId === destinationId) < index,
  );
  const sameIds = routes.flatMap(({ id }, index) =>
    id !== null && routes.findIndex((other) => other.id === id) < index ? [index] : [],
  );
  return [
    ...twice.map(({ at }) => repeatedDestination(at)),
    ...sameIds.map((index) => ({ path: `routes.${index}.id`, message: 'The same route occurs twice.' })),
  ];
}

/**
 * Returns an error if `destinations` and `routes` differ. Both fields may be given, because a client may send back a
 * GET response, which contains both.
 */
function disagreement(destinations: readonly string[] | undefined, routes: readonly AskedRoute[]): Fault[] {
  const named = new Set(routes.map(({ destination }) => destination));
  const agree =
    destinations === undefined ||
    (destinations.length === routes.length && destinations.every((destination) => named.has(destination)));
  return agree
    ? []
    : [{ path: 'destinations', message: 'names other destinations than routes: give only one of them' }];
}
