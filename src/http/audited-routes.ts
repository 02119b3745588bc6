import { type ExecutionContext, Injectable } from '@nestjs/common';
import { ModulesContainer } from '@nestjs/core';
import type { Access, AuditMode } from './request.js';
import { type Showing, showingOf } from './resource-readers.js';
import { handlerOf, listRoutes, type RouteHandler } from './routes.js';

/** An audited route, and the source of its resource's state before and after a change. */
export interface AuditedRoute {
  route: RouteHandler;
  showing: Showing;
}

/** Finds the audited route of a request. Lists the routes at the first request, when all modules are loaded. */
@Injectable()
export class AuditedRoutes {
  private audited: readonly AuditedRoute[] | null = null;

  constructor(private readonly modules: ModulesContainer) {}

  find(context: Pick<ExecutionContext, 'getClass' | 'getHandler'>): AuditedRoute {
    const controller = context.getClass();
    const handler = context.getHandler();
    const found = (this.audited ??= this.list()).find(
      ({ route }) => route.controller === controller && handlerOf(route) === handler,
    );
    if (found === undefined) throw new Error(`${controller.name}.${handler.name} is not audited.`);
    return found;
  }

  private list(): AuditedRoute[] {
    const routes = listRoutes(this.modules);
    return routes
      .filter((route) => auditModeOf(route) === 'with-change')
      .map((route) => ({ route, showing: showingOf(route, routes) }));
  }
}

const READS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS']);
const OPEN: ReadonlySet<Access | undefined> = new Set<Access | undefined>([undefined, 'public']);

/**
 * Returns the audit mode of a route. Routes with the idempotency mode `accept` are not audited: their event already
 * records the request id and the idempotency key, and an audit entry would cost a second commit per message.
 */
export function auditModeOf({ method, config }: Pick<RouteHandler, 'method' | 'config'>): AuditMode {
  if (config.audit !== undefined) return config.audit;
  if (READS.has(method) || OPEN.has(config.access) || config.idempotency === 'accept') return 'never';
  return 'with-change';
}
