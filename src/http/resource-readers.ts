import type { ExecutionContext } from '@nestjs/common';
import { ROUTE_ARGS_METADATA, RouteParamtypes } from '@nestjs/common/internal';
import type { FastifyRequest } from 'fastify';
import type { RouteHandler } from './routes.js';

type Fields = Record<string, unknown>;

/** Shows what a request is about as the API shows it; null when there is nothing. */
export type ResourceReader = (context: ExecutionContext) => Promise<Fields | null>;

/**
 * What shows the resource of a route: a handler, nothing, or what must not be copied, since it holds what was sent or
 * received.
 */
export type Shown = ResourceReader | 'nothing' | 'content';

/** How the audit log sees what a route is about. */
export interface Showing {
  shown: Shown;
  /**
   * What the path names last (`itself`), a part of what is shown (`/v1/endpoints/:id/routes/:routeId`), or what is made
   * in a collection.
   */
  about: 'itself' | 'part' | 'collection';
  /** Of a collection: by which field of theirs its members are named in a path (`id`, `name`). */
  namedBy: string;
}

/** A parameter of a handler, as Nest's decorators leave it. */
interface Parameter {
  index: number;
  data?: unknown;
  factory?: (data: unknown, context: ExecutionContext) => unknown;
}

/**
 * For a route that changes something the handler that shows it: the GET of the same path, or of the nearest thing above
 * it (`/v1/keys/:id` for `/v1/keys/:id/rotate`). Nothing shows what is made in a collection.
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
    // What is made in a collection is shown by the answer, not by what the collection belongs to.
    if (shows && path === route.path) return { shown: 'nothing', about: 'collection', namedBy: nameIn(path, routes) };
  }
  return of('nothing', route.path);
}

const parametersIn = (path: string): number => path.split('/').filter((word) => word.startsWith(':')).length;

/** `name` where `/v1/event-types/:name` shows one of `/v1/event-types`. */
function nameIn(collection: string, routes: readonly RouteHandler[]): string {
  const one = routes.find(
    ({ method, path }) =>
      method === 'GET' && path.startsWith(`${collection}/:`) && !path.slice(collection.length + 2).includes('/'),
  );
  return one?.path.slice(collection.length + 2) ?? 'id';
}

/** A path that ends in a collection lists many things. */
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
      // What does not exist is nothing; what storage does not say, the handler itself will be told.
      return null;
    }
  };
}

/** No list, and no bytes. */
export function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype;
}

/** How a parameter of a handler comes out of a request; null for one that only Nest itself can fill. */
function valueOf(key: string, { data, factory }: Parameter): ((context: ExecutionContext) => unknown) | null {
  if (factory !== undefined) return (context) => factory(data, context);
  if (!key.startsWith(`${RouteParamtypes.PARAM}:`)) return null;
  return (context) => {
    const params = context.switchToHttp().getRequest<FastifyRequest>().params as Record<string, unknown>;
    return typeof data === 'string' ? params[data] : params;
  };
}
