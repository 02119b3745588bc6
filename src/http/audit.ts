import type { Access, AuditMode } from './request.js';
import { withRouteConfig } from './route-config.js';
import type { RouteHandler } from './routes.js';

/** How a route stands in the audit log; every route that may change something does, whether it says so or not. */
export const Audit = (mode: AuditMode): MethodDecorator => withRouteConfig({ audit: mode });

/** What the route shows was sent or received by somebody: it is never copied into the audit log, where nobody could erase it. */
export const HoldsContent = (): MethodDecorator => withRouteConfig({ holdsContent: true });

const READS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS']);
const OPEN: ReadonlySet<Access | undefined> = new Set<Access | undefined>([undefined, 'public']);

/**
 * How a route stands in the audit log. What is accepted by the ledger's own commit is traffic: it is an event, with its request id
 * and its key of idempotency, and an entry for each would be a second commit for each message.
 */
export function auditModeOf({ method, config }: Pick<RouteHandler, 'method' | 'config'>): AuditMode {
  if (config.audit !== undefined) return config.audit;
  if (READS.has(method) || OPEN.has(config.access) || config.idempotency === 'accept') return 'never';
  return 'with-change';
}
