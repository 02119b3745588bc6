import type { ExecutionContext } from '@nestjs/common';
import { ROUTE_ARGS_METADATA, RouteParamtypes } from '@nestjs/common/internal';
import type { FastifyRequest } from 'fastify';
import { listRoutes, type RouteHandler } from './routes.js';
import type { ModulesContainer } from '@nestjs/core';

type Fields = Record<string, unknown>;

/** Shows what a request is about as the API shows it; null when there is nothing. */
export type ResourceReader = (context: ExecutionContext) => Promise<Fields | null>;

/** A parameter of a handler, as Nest's decorators leave it. */
interface Parameter {
  index: number;
  data?: unknown;
  factory?: (data: unknown, context: ExecutionContext) => unknown;
}

/**
 * For a route that changes something the handler that shows it: the GET of the same path, or of the nearest thing above it
 * (`/v1/keys/:id` for `/v1/keys/:id/rotate`). Null where nothing shows it, as for what is made in a collection.
 */
export function readerFor(route: RouteHandler, modules: ModulesContainer): ResourceReader | null {
  const gets = listRoutes(modules).filter(({ method }) => method === 'GET');
  const words = route.path.split('/');
  for (let length = words.length; length > 2; length -= 1) {
    const path = words.slice(0, length).join('/');
    const shows = gets.find((each) => each.path === path);
    if (shows && (path.includes(':') || path === route.path) && isOne(shows, path)) return readerOf(shows);
  }
  return null;
}

/** A path that ends in a collection lists many things. */
function isOne(shows: RouteHandler, path: string): boolean {
  return shows.query === null && (path.split('/').at(-1)?.startsWith(':') === true || !/^list/i.test(shows.name));
}

function readerOf({ controller, name, instance }: RouteHandler): ResourceReader | null {
  const given = (Reflect.getMetadata(ROUTE_ARGS_METADATA, controller, name) ?? {}) as Record<string, Parameter>;
  const values = Object.entries(given).map(([key, parameter]) => [parameter.index, valueOf(key, parameter)] as const);
  if (values.some(([, value]) => value === null)) return null;
  return async (context) => {
    const parameters: unknown[] = [];
    for (const [index, value] of values) parameters[index] = value?.(context);
    const handler = (instance() as Record<string, (...parameters: unknown[]) => unknown>)[name];
    try {
      const shown: unknown = await handler?.apply(instance(), parameters);
      return typeof shown === 'object' && shown !== null && !Array.isArray(shown) ? (shown as Fields) : null;
    } catch {
      // What does not exist is nothing; what storage does not say, the handler itself will be told.
      return null;
    }
  };
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
