import { ApiProperty } from '@nestjs/swagger';
import { IsObject, IsOptional, IsString, MaxLength } from 'class-validator';
import { Examples } from '#http/openapi-examples.js';
import { CanBeNull, CanBeOmitted, IsArrayOf } from '#http/validation.js';
import { noSuch } from '#kernel/errors.js';
import { type Id, parseId, showId } from '#kernel/ids.js';
import type { RouteChanges } from './endpoint-routes.js';
import type { RouteEntity } from './endpoints.entities.js';
import type { AskedRoute } from './route-drafts.js';

const FILTER_EXAMPLE = { path: '$.type', op: 'starts_with', value: 'invoice.' };

/** A route of an endpoint. */
export class RouteConfig {
  /** Id of an existing route to keep. Omit it for a new route. */
  @ApiProperty({ example: 'rte_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1' })
  @CanBeOmitted()
  @IsString()
  @MaxLength(64)
  id?: string;

  /** Id of the destination. */
  @ApiProperty({ example: 'dst_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1' })
  @IsString()
  @MaxLength(64)
  destination: string;

  /**
   * Condition that selects the events, in the format of a response rule's `when`. A condition without `type` has the
   * type `json`. `null` selects all events.
   */
  @ApiProperty({ example: FILTER_EXAMPLE })
  @IsOptional()
  @IsObject()
  filter?: Record<string, unknown> | null;
}

/** The route to add. */
export class NewRouteBody {
  /** Id of the destination. An endpoint has at most one route to each destination. */
  @ApiProperty({ example: 'dst_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1' })
  @IsString()
  @MaxLength(64)
  destination: string;

  /**
   * Condition that selects the events, in the format of a response rule's `when`. A condition without `type` has the
   * type `json`. `null` selects all events.
   */
  @ApiProperty({ example: FILTER_EXAMPLE })
  @IsOptional()
  @IsObject()
  filter?: Record<string, unknown> | null;
}

/** Changes to a route. Omitted fields keep their value. */
@Examples({
  filter: {
    summary: 'Send only some of the events',
    value: { filter: { path: '$.type', op: 'eq', value: 'invoice.paid' } },
  },
  all: { summary: 'Send all events', value: { filter: null } },
})
export class RouteChangesBody {
  /** Id of the destination. */
  @ApiProperty({ example: 'dst_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1' })
  @CanBeOmitted()
  @IsString()
  @MaxLength(64)
  destination?: string;

  /** Condition that selects the events. `null` selects all events. */
  @ApiProperty({ example: FILTER_EXAMPLE })
  @IsOptional()
  @IsObject()
  filter?: Record<string, unknown> | null;
}

/** A route: a destination and a filter for the events. */
export class RouteItem {
  /** Id of the route. */
  @ApiProperty({ example: 'rte_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1' })
  @IsString()
  id: string;

  /** Id of the destination. */
  @ApiProperty({ example: 'dst_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1' })
  @IsString()
  destination: string;

  /** Condition that selects the events. `null` selects all events. */
  @ApiProperty({ example: FILTER_EXAMPLE })
  @CanBeNull()
  @IsObject()
  filter: Record<string, unknown> | null;
}

/** All routes of an endpoint. */
export class RoutePage {
  /** The routes, in the order in which they are evaluated. */
  @IsArrayOf(() => RouteItem)
  data: RouteItem[];

  /** Always `null`: an endpoint has at most 100 routes, and all are on one page. */
  @ApiProperty({ example: null })
  @CanBeNull()
  @IsString()
  next_cursor: string | null;
}

/** Parses the route id in a path. Throws 404 if the text cannot be a route id. */
export function routeId(text: string): Id {
  const id = parseId('rte', text);
  if (id === null) throw noSuch('route');
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
