import { RouteConfig } from '@nestjs/platform-fastify';
import { FASTIFY_ROUTE_CONFIG_METADATA } from '@nestjs/platform-fastify/constants.js';
import type { EdgeRouteConfig } from './request.js';

type Handler = (...args: never[]) => unknown;

/** Merges `part` into the route's configuration. `@RouteConfig` alone would drop parts that other decorators set. */
export function withRouteConfig(part: EdgeRouteConfig): MethodDecorator {
  return (target, name, descriptor) => {
    const before = routeConfigOf(descriptor.value as Handler);
    RouteConfig({ ...before, ...part })(target, name, descriptor);
  };
}

export function routeConfigOf(handler: Handler): EdgeRouteConfig {
  return (Reflect.getMetadata(FASTIFY_ROUTE_CONFIG_METADATA, handler) as EdgeRouteConfig | undefined) ?? {};
}
