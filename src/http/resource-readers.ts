import type { ExecutionContext } from '@nestjs/common';
import { ROUTE_ARGS_METADATA, RouteParamtypes } from '@nestjs/common/internal';
import type { FastifyRequest } from 'fastify';
import type { RouteHandler } from './routes.js';

type Fields = Record<string, unknown>;

export type ResourceReader = (context: ExecutionContext) => Promise<Fields | null>;

/**
 * Handler that returns the state of a resource for the audit log. `nothing`: there is no such handler. `content`: the
 * state is content, which must not be copied into the log.
 */
export type Shown = ResourceReader | 'nothing' | 'content';

export interface Showing {
  shown: Shown;
  /**
   * Object that the route changes: the last resource of the path (`itself`), a part of that resource, or a collection.
   */
  about: 'itself' | 'part' | 'collection';
  /** For a collection: the field that identifies its members in a path (`id`, `name`). */
  namedBy: string;
}

interface Parameter {
  index: number;
  data?: unknown;
  factory?: (data: unknown, context: ExecutionContext) => unknown;
}

/**
 * Returns the handler that shows the resource that a route changes: the GET of the same path, or of the nearest parent
 * path (`/v1/keys/:id` for `/v1/keys/:id/rotate`). A route that creates a resource in a collection has no such handler.
 */
export function showingOf(route: RouteHandler, routes: readonly RouteHandler[]): Showing {
  const words = route.path.split('/');
  const of = (shown: Shown, path: string): Showing => ({
    shown,
    about: parametersIn(path) === parametersIn(route.path) ? 'itself' : 'part',
    namedBy: 'id',
  });
  for (let length = words.length; length > 2; length -= 1) {
    const path = words.slice(0, length).join('/');
    const shows = routes.find((each) => each.method === 'GET' && each.path === path);
    if (shows?.config.holdsContent === true) return of('content', path);
    if (shows && (path.includes(':') || path === route.path) && isOne(shows, path)) return of(readerOf(shows), path);
    // The route creates a resource in a collection. Only the response shows that resource, because the GET of the
    // collection returns a list.
    if (shows && path === route.path) return { shown: 'nothing', about: 'collection', namedBy: nameIn(path, routes) };
  }
  return of('nothing', route.path);
}

const parametersIn = (path: string): number => path.split('/').filter((word) => word.startsWith(':')).length;

/**
 * Returns the path parameter that identifies a member: `name` if the collection has the route `/v1/event-types/:name`.
 */
function nameIn(collection: string, routes: readonly RouteHandler[]): string {
  const one = routes.find(
    ({ method, path }) =>
      method === 'GET' && path.startsWith(`${collection}/:`) && !path.slice(collection.length + 2).includes('/'),
  );
  return one?.path.slice(collection.length + 2) ?? 'id';
}

/** Returns whether the handler of a path shows a single resource and not a list. */
function isOne(shows: RouteHandler, path: string): boolean {
  return shows.query === null && (path.split('/').at(-1)?.startsWith(':') === true || !/^list/i.test(shows.name));
}

function readerOf({ controller, name, instance }: RouteHandler): Shown {
  const given = (Reflect.getMetadata(ROUTE_ARGS_METADATA, controller, name) ?? {}) as Record<string, Parameter>;
  const values = Object.entries(given).map(([key, parameter]) => [parameter.index, valueOf(key, parameter)] as const);
  if (values.some(([, value]) => value === null)) return 'nothing';
  return async (context) => {
    const parameters: unknown[] = [];
    for (const [index, value] of values) parameters[index] = value?.(context);
    const handler = (instance() as Record<string, (...parameters: unknown[]) => unknown>)[name];
    try {
      const shown: unknown = await handler?.apply(instance(), parameters);
      return isFields(shown) ? shown : null;
    } catch {
      // Treats a storage error like a missing resource. The route's own handler reports the error.
      return null;
    }
  };
}

export function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype;
}

/** Returns a function that reads a handler's parameter from a request, or null if only Nest can provide it. */
function valueOf(key: string, { data, factory }: Parameter): ((context: ExecutionContext) => unknown) | null {
  if (factory !== undefined) return (context) => factory(data, context);
  if (!key.startsWith(`${RouteParamtypes.PARAM}:`)) return null;
  return (context) => {
    const params = context.switchToHttp().getRequest<FastifyRequest>().params as Record<string, unknown>;
    return typeof data === 'string' ? params[data] : params;
  };
}
