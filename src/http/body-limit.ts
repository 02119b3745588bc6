import type { FastifyInstance } from 'fastify';
import { withRouteConfig } from './route-config.js';

/** Default maximum size of a body in bytes: 1 MiB for the payload and 64 KiB for the other fields. */
export const BODY_BYTES_MAX = 1_048_576 + 65_536;

/** Replaces the default maximum body size of the route. */
export const BodyLimit = (bytes: number): MethodDecorator => withRouteConfig({ bodyBytesMax: bytes });

/** Copies the body limit of each Nest route to its Fastify route, because Nest does not pass the limit on. */
export function registerBodyLimits(fastify: FastifyInstance): void {
  fastify.addHook('onRoute', (route) => {
    const { bodyBytesMax } = route.config ?? {};
    if (bodyBytesMax !== undefined) route.bodyLimit = bodyBytesMax;
  });
}
