import { RequestMethod, type Type } from '@nestjs/common';
import { METHOD_METADATA, PATH_METADATA, ROUTE_ARGS_METADATA, RouteParamtypes } from '@nestjs/common/internal';
import { MetadataScanner, ModulesContainer } from '@nestjs/core';
import { DECORATORS } from '@nestjs/swagger';
import type { EdgeRouteConfig } from './request.js';
import { routeConfigOf } from './route-config.js';
import { allowsUnknownFields } from './unknown-fields.js';

export interface RouteHandler {
  controller: Type;
  /** Name of the route, also used as the operation id. */
  name: string;
  method: string;
  /** Path in Nest's form, with a leading slash: `/v1/keys/:id`. */
  path: string;
  instance: () => object;
  /** Configuration of the route. It is the object that Fastify reads, so a change to it takes effect. */
  config: EdgeRouteConfig;
  /** Class of the whole body, `@Body() dto: SomeDto`. Null if the handler has no such parameter. */
  body: Type | null;
  /** Whether the handler reads no body. False for GET, whose content has no meaning (RFC 9110, 9.3.1). */
  isBodiless: boolean;
  /** Class of the whole query, `@Query() query: SomeDto`. Null if the handler has no such parameter. */
  query: Type | null;
}

interface Parameter {
  index: number;
  data?: unknown;
}

type Handler = (...args: never[]) => unknown;

/** Lists all handlers, including those of extensions. */
export function listRoutes(modules: ModulesContainer): RouteHandler[] {
  const controllers = [...modules.values()].flatMap((module) => [...module.controllers.values()]);
  return controllers.flatMap((wrapper) =>
    typeof wrapper.metatype === 'function' ? routesOf(wrapper.metatype as Type, () => wrapper.instance) : [],
  );
}

/** Throws for a route without declared access, and for a duplicate name (operation id). The error stops the start. */
export function checkRoutes(routes: readonly RouteHandler[]): void {
  const seen = new Map<string, RouteHandler>();
  for (const route of routes) {
    const where = `${route.controller.name}.${route.name}`;
    if (route.config.access === undefined)
      throw new Error(`${where} needs @Scope('read' | 'write' | 'admin') or @Public().`);
    if (route.config.idempotency !== undefined && route.method !== 'POST')
      throw new Error(`${where} is @Idempotent() but not a POST.`);
    const other = seen.get(route.name);
    if (other)
      throw new Error(
        `${where} and ${other.controller.name}.${other.name} need different names: they are operation ids.`,
      );
    seen.set(route.name, route);
  }
}

/** Returns the method that Nest calls for the route. The route's decorators store their metadata on this method. */
export function handlerOf({ controller, name }: Pick<RouteHandler, 'controller' | 'name'>): Handler {
  return (controller.prototype as Record<string, Handler>)[name] as Handler;
}

/** Returns the names of the methods of a controller's prototype that are routes. */
export function routeNamesOf(prototype: object): string[] {
  return new MetadataScanner()
    .getAllMethodNames(prototype)
    .filter((name) => Reflect.hasMetadata(PATH_METADATA, (prototype as Record<string, Handler>)[name] as Handler));
}

function routesOf(controller: Type, instance: () => object): RouteHandler[] {
  const prototype = controller.prototype as Record<string, Handler>;
  return routeNamesOf(prototype).flatMap((name) => {
    const handler = prototype[name] as Handler;
    const method = RequestMethod[Reflect.getMetadata(METHOD_METADATA, handler) as RequestMethod];
    const path = pathOf(Reflect.getMetadata(PATH_METADATA, controller), Reflect.getMetadata(PATH_METADATA, handler));
    const config = routeConfigOf(handler);
    return [
      {
        controller,
        name,
        method,
        path,
        instance,
        config,
        ...parametersOf(controller, name),
        isBodiless: isBodiless(controller, name, method, config),
      },
    ];
  });
}

/**
 * Joins the parts of a path. Of a list of paths, uses only the first, because Posthorn's controllers have a single
 * path.
 */
function pathOf(...parts: unknown[]): string {
  const words = parts.flatMap((part) => String(Array.isArray(part) ? (part[0] ?? '') : (part ?? '')).split('/'));
  return `/${words.filter(Boolean).join('/')}`;
}

const READS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS']);
const BODY_PARAMETERS = [RouteParamtypes.BODY, RouteParamtypes.RAW_BODY];

/** Returns whether the handler reads no body, according to its parameters and `@ApiBody`. False if undocumented. */
function isBodiless(controller: Type, name: string, method: string, { takesForm }: EdgeRouteConfig): boolean {
  const handler = handlerOf({ controller, name });
  const isLeftOut =
    Reflect.hasMetadata(DECORATORS.API_EXCLUDE_CONTROLLER, controller) ||
    Reflect.hasMetadata(DECORATORS.API_EXCLUDE_ENDPOINT, handler);
  if (READS.has(method) || takesForm === true || isLeftOut || allowsUnknownFields(controller.name)) return false;
  const parameters = Object.keys((Reflect.getMetadata(ROUTE_ARGS_METADATA, controller, name) ?? {}) as object);
  const documented = (Reflect.getMetadata(DECORATORS.API_PARAMETERS, handler) ?? []) as { in?: string }[];
  return (
    !parameters.some((key) => BODY_PARAMETERS.some((kind) => key.startsWith(`${kind}:`))) &&
    !documented.some((each) => each.in === 'body')
  );
}

function parametersOf(controller: Type, name: string): Pick<RouteHandler, 'body' | 'query'> {
  const parameters = (Reflect.getMetadata(ROUTE_ARGS_METADATA, controller, name) ?? {}) as Record<string, Parameter>;
  const types = (Reflect.getMetadata('design:paramtypes', controller.prototype as object, name) ?? []) as Type[];
  const whole = (kind: RouteParamtypes): Type | null => {
    const found = Object.entries(parameters).find(
      ([key, { data }]) => key.startsWith(`${kind}:`) && data === undefined,
    );
    const type = found && types[found[1].index];
    return type === undefined || (type as unknown) === Object ? null : type;
  };
  return { body: whole(RouteParamtypes.BODY), query: whole(RouteParamtypes.QUERY) };
}
