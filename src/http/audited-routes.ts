import { type ExecutionContext, Injectable } from '@nestjs/common';
import { ModulesContainer } from '@nestjs/core';
import { type Showing, showingOf } from './resource-readers.js';
import { handlerOf, listRoutes, type RouteHandler } from './routes.js';

/** A route with `@Audit()`, and the source of its resource's state before and after a change. */
export interface AuditedRoute {
  route: RouteHandler;
  showing: Showing;
}

/** Finds the audited route of a request. Lists the routes at the first request, when all modules are complete. */
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
    if (found === undefined) throw new Error(`${controller.name}.${handler.name} has no @Audit().`);
    return found;
  }

  private list(): AuditedRoute[] {
    const routes = listRoutes(this.modules);
    return routes
      .filter(({ config }) => config.audit === 'with-change')
      .map((route) => ({ route, showing: showingOf(route, routes) }));
  }
}
