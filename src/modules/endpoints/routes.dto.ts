import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { Examples } from '#http/openapi-examples.js';
import { notFound } from '#kernel/errors.js';
import { type Id, parseId, showId } from '#kernel/ids.js';
import type { RouteChanges } from './endpoint-routes.js';
import type { RouteEntity } from './endpoints.entities.js';
import type { AskedRoute } from './route-drafts.js';

const FILTER_EXAMPLE = { path: '$.type', op: 'starts_with', value: 'invoice.' };

/** A route of an endpoint. */
export class RouteConfig {
  /** A route to keep; left out for a new one. */
  @ApiProperty({ required: false, maxLength: 64, example: 'rte_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1' })
  id?: string;

  /** The destination. */
  @ApiProperty({ maxLength: 64, example: 'dst_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1' })
  destination: string;

  /** Which events: a condition in the grammar of `when`, whose `type` is `json` when left out; null for all. */
  @ApiPropertyOptional({ type: 'object', additionalProperties: true, nullable: true, example: FILTER_EXAMPLE })
  filter?: Record<string, unknown> | null;
}

/** The route to add. */
export class NewRouteBody {
  /** The destination; an endpoint has at most one route to each. */
  @ApiProperty({ maxLength: 64, example: 'dst_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1' })
  destination: string;

  /** Which events: a condition in the grammar of `when`, whose `type` is `json` when left out; null for all. */
  @ApiPropertyOptional({ type: 'object', additionalProperties: true, nullable: true, example: FILTER_EXAMPLE })
  filter?: Record<string, unknown> | null;
}

/** What to change of a route: what is left out stays. */
@Examples({
  filter: {
    summary: 'Only some of the events',
    value: { filter: { path: '$.type', op: 'eq', value: 'invoice.paid' } },
  },
  all: { summary: 'All events', value: { filter: null } },
})
export class RouteChangesBody {
  /** The destination. */
  @ApiProperty({ required: false, maxLength: 64, example: 'dst_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1' })
  destination?: string;

  /** Which events; null for all. */
  @ApiPropertyOptional({ type: 'object', additionalProperties: true, nullable: true, example: FILTER_EXAMPLE })
  filter?: Record<string, unknown> | null;
}

/** A route: where events go, and which of them. */
export class RouteItem {
  /** The route's id. */
  @ApiProperty({ example: 'rte_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1' })
  id: string;

  /** The destination. */
  @ApiProperty({ example: 'dst_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1' })
  destination: string;

  /** Which events; null for all. */
  @ApiProperty({ type: 'object', additionalProperties: true, nullable: true, example: FILTER_EXAMPLE })
  filter: Record<string, unknown> | null;
}

/** All routes of an endpoint. */
export class RoutePage {
  /** The routes, in the order in which they are tried. */
  @ApiProperty({ type: [RouteItem] })
  data: RouteItem[];

  /** Always null: an endpoint has at most 100 routes. */
  @ApiProperty({ type: String, nullable: true, example: null })
  next_cursor: string | null;
}

/** The route that a path names. Throws 404 for what can't be one. */
export function routeId(text: string): Id {
  const id = parseId('rte', text);
  if (id === null) throw notFound('route');
  return id;
}

export function askedRoute({ id, destination, filter }: RouteConfig): AskedRoute {
  return { id: id ?? null, destination, filter: filter ?? null };
}

export function routeChanges({ destination, filter }: RouteChangesBody): RouteChanges {
  return { destination, filter };
}

export function presentRoute({ id, destinationId, filter }: RouteEntity): RouteItem {
  return { id: showId('rte', id), destination: showId('dst', destinationId), filter };
}

export function presentRoutes(routes: readonly RouteEntity[]): RoutePage {
  return { data: routes.map(presentRoute), next_cursor: null };
}
