import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { Config } from '#kernel/config/config.js';
import { ApiError } from '#kernel/errors.js';

/**
 * Rejects forms that other sites submit (CSRF, including login CSRF), based on `Sec-Fetch-Site` and `Origin`. A client
 * without these headers is not a browser, so it cannot send a victim's cookie.
 */
@Injectable()
export class OwnOriginGuard implements CanActivate {
  constructor(private readonly config: Config) {}

  canActivate(context: ExecutionContext): boolean {
    const request = context.switchToHttp().getRequest<FastifyRequest>();
    if (isFromOurPages(request, new URL(this.config.baseUrl).origin)) return true;
    throw new ApiError(
      'insufficient_scope',
      'This form was sent from another site. Open the page again, and send it from there.',
    );
  }
}

/** Returns true for requests from a page of this origin, and from clients that are not browsers. */
export function isFromOurPages(
  { headers, host }: Pick<FastifyRequest, 'headers' | 'host'>,
  ourOrigin: string,
): boolean {
  const site = headers['sec-fetch-site'];
  if (site !== undefined && site !== 'same-origin') return false;
  const { origin } = headers;
  if (origin === undefined) return true;
  return origin === ourOrigin || (URL.canParse(origin) && new URL(origin).host === host);
}
