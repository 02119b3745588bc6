import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { ApiError } from '#kernel/errors.js';
import { AccessRules } from './access-rules.js';
import { portalBodyFault } from './portal-requests.js';

/**
 * Checks the access of every handler, including those of extensions, as declared by `@Scope` or `@Public`. Uses the
 * result of the authentication hook. Rejects requests that skipped the hook, and routes that declare no access.
 */
@Injectable()
export class ScopeGuard implements CanActivate {
  constructor(private readonly rules: AccessRules) {}

  canActivate(context: ExecutionContext): boolean {
    const request = context.switchToHttp().getRequest<FastifyRequest>();
    // `edge` is missing if a request skipped the authentication hook.
    const access = (request.edge as FastifyRequest['edge'] | null)?.access;
    const refused = access === undefined ? UNDECLARED : (this.rules.refusal(access, request) ?? bodyFault(request));
    if (refused !== undefined) throw refused;
    return true;
  }
}

function bodyFault({ caller, edge, body }: FastifyRequest): ApiError | undefined {
  return caller?.portal === undefined || edge.portal === undefined ? undefined : portalBodyFault(edge.portal, body);
}

const UNDECLARED = new ApiError(
  'insufficient_scope',
  'This route does not declare its access, so every request is rejected.',
);
