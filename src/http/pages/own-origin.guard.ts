import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { Config } from '#kernel/config/config.js';
import { ApiError } from '#kernel/errors.js';

/**
 * Lets a form through that a page of ours sent, and refuses one that another site's page sent (CSRF, also that of the sign-in
 * itself): by `Sec-Fetch-Site`, and by `Origin`. What sends neither is no browser, and has no cookie of anybody.
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

/** Whether a browser says that a page of this origin sent the request; true for what is no browser. */
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
