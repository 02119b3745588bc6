import type { Access, AuditMode } from './request.js';
import { withRouteConfig } from './route-config.js';
import type { RouteHandler } from './routes.js';

/** Sets the audit mode of a route. By default, every route that may change data is audited. */
export const Audit = (mode: AuditMode): MethodDecorator => withRouteConfig({ audit: mode });

/** The route returns sent or received content. It is not copied to the audit log, where it could not be erased. */
export const HoldsContent = (): MethodDecorator => withRouteConfig({ holdsContent: true });

const READS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS']);
const OPEN: ReadonlySet<Access | undefined> = new Set<Access | undefined>([undefined, 'public']);

/**
 * Returns the audit mode of a route. If the ledger commits the effect itself, the route is traffic and is not audited:
 * its event already records request id and idempotency key, and an entry would cost a second commit per message.
 */
export function auditModeOf({ method, config }: Pick<RouteHandler, 'method' | 'config'>): AuditMode {
  if (config.audit !== undefined) return config.audit;
  if (READS.has(method) || OPEN.has(config.access) || config.idempotency === 'accept') return 'never';
  return 'with-change';
}
