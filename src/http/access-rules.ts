import { Injectable, type OnModuleInit } from '@nestjs/common';
import { DiscoveryService } from '@nestjs/core';
import { ApiError } from '#kernel/errors.js';
import { providersExtending } from '#kernel/extension-points.js';
import { type Caller, grants } from '#kernel/tenant.js';
import { portalRefusal, type PortalRequest } from './portal-requests.js';
import type { Access } from './request.js';

/** What is known of who calls, once the gate has authenticated: a caller with a tenant, the operator, or neither. */
export interface Presented {
  caller: Caller | null;
  isOperator: boolean;
}

/**
 * Who may use a route that says what it needs. A provider of an extension that extends this takes the place of the scopes: it
 * is asked before a body is read, and once more by the guard in front of the handler. It must not wait, and must not throw.
 */
export abstract class AccessRule {
  /** Why not, or undefined for who may. */
  abstract refusal(access: Access, presented: Presented): ApiError | undefined;
}

/** Each scope includes the ones before it (specification, Authentication 3); the operator's routes are the operator's alone. */
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

/** The rule that holds in this process: that of an extension, or the scopes. */
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

  /** The tokens of customers' portals are held to the marks of routes, whatever rule an extension brings. */
  refusal(access: Access, presented: Presented & PortalRequest): ApiError | undefined {
    const portal = presented.caller?.portal;
    return portal === undefined || access === 'public'
      ? this.rule.refusal(access, presented)
      : portalRefusal(portal, presented);
  }
}

const NO_KEY =
  'Send a valid API key as `Authorization: Bearer ek_…`. This one is missing, unknown, expired or revoked.';

/** 401: missing, unknown, expired and revoked look the same on purpose. */
export function unauthenticated(message = NO_KEY): ApiError {
  return new ApiError('unauthenticated', message);
}
