import type { FastifyInstance } from 'fastify';
import { withRouteConfig } from './route-config.js';

/** Replaces the default body limit of the route. */
export const BodyLimit = (bytes: number): MethodDecorator => withRouteConfig({ bodyBytesMax: bytes });

/** Copies each Nest route's limit to its Fastify route as it is created, because Nest does not pass it on. */
export function registerBodyLimits(fastify: FastifyInstance): void {
  fastify.addHook('onRoute', (route) => {
    const { bodyBytesMax } = route.config ?? {};
    if (bodyBytesMax !== undefined) route.bodyLimit = bodyBytesMax;
  });
}
