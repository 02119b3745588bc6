import { Injectable, type OnModuleInit } from '@nestjs/common';
import { DiscoveryService } from '@nestjs/core';
import { ApiError } from '#kernel/errors.js';
import { providersExtending } from '#kernel/extension-points.js';
import { type Caller, grants } from '#kernel/tenant.js';
import { portalRefusal, type PortalRequest } from './portal-requests.js';
import type { Access } from './request.js';

export interface Presented {
  caller: Caller | null;
  isOperator: boolean;
}

/**
 * Decides who may use a route. A subclass from an extension replaces the scope check. The rule is called before the
 * body is read, and again by the guard of the handler. It must be synchronous and must not throw.
 */
export abstract class AccessRule {
  /** Returns the reason to reject the request, or undefined if the request is allowed. */
  abstract refusal(access: Access, presented: Presented): ApiError | undefined;
}

/** Default rule: checks the scope. A scope includes all lower scopes. Only the operator may use operator routes. */
export class ScopeRule extends AccessRule {
  override refusal(access: Access, { caller, isOperator }: Presented): ApiError | undefined {
    if (access === 'public') return undefined;
    if (access === 'operator')
      return isOperator
        ? undefined
        : unauthenticated('Send the OPERATOR_KEY of this installation as `Authorization: Bearer …`.');
    if (caller === null) return unauthenticated(NO_KEY);
    if (grants(caller.scope, access)) return undefined;
    const said =
      caller.session === undefined
        ? `This needs a key of scope ${access}; this one has scope ${caller.scope}.`
        : `This needs the role ${access}; yours is ${caller.scope}.`;
    return new ApiError('insufficient_scope', said, { required: access, scope: caller.scope });
  }
}

/** Applies the rule of an extension. Without such a rule, applies `ScopeRule`. */
@Injectable()
export class AccessRules implements OnModuleInit {
  private rule: AccessRule = new ScopeRule();

  constructor(private readonly discovery: DiscoveryService) {}

  onModuleInit(): void {
    const [own, ...others] = providersExtending(this.discovery, AccessRule);
    if (others.length > 0)
      throw new Error(
        `Two extensions replace the access rule: ${[own, ...others].map((rule) => rule?.constructor.name).join(' and ')}. Remove one.`,
      );
    if (own !== undefined) this.rule = own;
  }

  /** Returns the reason to reject, or undefined. Portal tokens are always limited to routes marked for them. */
  refusal(access: Access, presented: Presented & PortalRequest): ApiError | undefined {
    const portal = presented.caller?.portal;
    return portal === undefined || access === 'public'
      ? this.rule.refusal(access, presented)
      : portalRefusal(portal, presented);
  }
}

const NO_KEY =
  'Send a valid API key as `Authorization: Bearer ek_…`. This one is missing, unknown, expired or revoked.';

/** Returns the 401 error. Missing, unknown, expired and revoked keys deliberately get the same message. */
export function unauthenticated(message = NO_KEY): ApiError {
  return new ApiError('unauthenticated', message);
}
