import type { FastifyInstance } from 'fastify';
import { withRouteConfig } from './route-config.js';

/** The route takes bodies of up to so many bytes, instead of what others take. */
export const BodyLimit = (bytes: number): MethodDecorator => withRouteConfig({ bodyBytesMax: bytes });

/** Fastify asks its own routes for the limit, which Nest's do not say: it is carried over as each of them is made. */
export function registerBodyLimits(fastify: FastifyInstance): void {
  fastify.addHook('onRoute', (route) => {
    const { bodyBytesMax } = route.config ?? {};
    if (bodyBytesMax !== undefined) route.bodyLimit = bodyBytesMax;
  });
}
